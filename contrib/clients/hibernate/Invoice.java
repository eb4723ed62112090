import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/**
 * The application generates the key, so persist() saves an invoice with its lines, in batches of hibernate.jdbc.batch_size.
 * Of a client that repeats its INSERT, persist() fails with 23505: the first one has succeeded. The save() of Spring Data
 * takes a new object with a key for an old one, unless the class is Persistable.
 */
@Entity
@Table(name = "invoices")
public class Invoice {
    private static final byte[] KEY = HexFormat.of().parseHex(System.getenv("ID_KEY"));

    @Id
    public UUID id;

    public String note;

    @OneToMany(mappedBy = "invoice", cascade = CascadeType.PERSIST)
    public List<InvoiceLine> lines = new ArrayList<>();

    protected Invoice() {}

    public Invoice(String note) {
        this.id = newKey("invoices");
        this.note = note;
    }

    static UUID newKey(String area) {
        try {
            return HmacComb.next(KEY, area);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }
}
