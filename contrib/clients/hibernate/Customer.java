import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.UUID;
import org.hibernate.annotations.ColumnDefault;
import org.hibernate.annotations.Generated;

@Entity
@Table(name = "customers")
public class Customer {
    @Id
    @Generated
    @ColumnDefault("idgen.keyed_comb(area => 'customers')")
    public UUID id;

    public String name;
}
