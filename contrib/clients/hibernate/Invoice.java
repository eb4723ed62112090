import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The application generates the key before persist(), which saves an invoice with its lines, whose class is alike:
 * Combs.hmacComb(key of the settings, "invoices"). Of a client that repeats its INSERT, persist() fails with 23505: the
 * first one has succeeded. The save() of Spring Data takes a new object with a key for an old one, unless it is
 * Persistable.
 */
@Entity
@Table(name = "invoices")
public class Invoice {
    @Id
    public UUID id;

    public String note;

    @OneToMany(cascade = CascadeType.PERSIST)
    @JoinColumn(name = "invoice_id", nullable = false)
    public List<InvoiceLine> lines = new ArrayList<>();

    protected Invoice() {}

    public Invoice(UUID id, String note) {
        this.id = id;
        this.note = note;
    }
}
