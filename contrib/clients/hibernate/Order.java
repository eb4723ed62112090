import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.UUID;
import org.hibernate.annotations.ColumnDefault;
import org.hibernate.annotations.Generated;

/** The server generates the key: it is null until the INSERT, which returns it. */
@Entity
@Table(name = "orders")
public class Order {
    @Id
    @Generated
    @ColumnDefault("idgen.keyed_comb(area => 'orders')")
    public UUID id;

    public String note;

    /** In the caller's transaction. The client generates the command id once, and repeats it. */
    public static Order createOnce(EntityManager em, UUID command, String note) {
        var creation = (Object[]) em.createNativeQuery("SELECT entity_id, created FROM idgen.create_once("
                        + "?1, idgen.keyed_comb(area => 'orders'), 'create order', "
                        + "jsonb_build_object('note', CAST(?2 AS text)))")
                .setParameter(1, command)
                .setParameter(2, note)
                .getSingleResult();
        if ((Boolean) creation[1]) {
            // persist() would let the server generate another key
            em.createNativeQuery("INSERT INTO orders (id, note) VALUES (?1, ?2)")
                    .setParameter(1, creation[0])
                    .setParameter(2, note)
                    .executeUpdate();
        }
        return em.find(Order.class, creation[0]);
    }
}
