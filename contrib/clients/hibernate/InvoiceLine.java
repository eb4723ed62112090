import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import java.util.UUID;

@Entity
@Table(name = "invoice_lines")
public class InvoiceLine {
    @Id
    public UUID id;

    @ManyToOne(optional = false)
    public Invoice invoice;

    public String note;

    protected InvoiceLine() {}

    public InvoiceLine(Invoice invoice, String note) {
        this.id = Invoice.newKey("invoice_lines");
        this.invoice = invoice;
        this.note = note;
        invoice.lines.add(this);
    }
}
