// JPA with Hibernate 3.6, the version of Debian. Each entity says who makes its key: the program
// (Draft), create_once() (Order), or the server, whose function is called before the INSERT (the others).
import java.io.Serializable;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import javax.persistence.Entity;
import javax.persistence.EntityManager;
import javax.persistence.GeneratedValue;
import javax.persistence.Id;
import javax.persistence.Persistence;
import javax.persistence.PersistenceException;
import javax.persistence.Table;
import org.hibernate.annotations.GenericGenerator;
import org.hibernate.annotations.Parameter;
import org.hibernate.annotations.Type;
import org.hibernate.dialect.Dialect;
import org.hibernate.engine.SessionImplementor;
import org.hibernate.id.Configurable;
import org.hibernate.id.IdentifierGenerator;
import org.postgresql.util.PSQLException;

public class Jpa {
    /** A key that the server makes, so that the entity has it before its INSERT. */
    public static class ServerKey implements IdentifierGenerator, Configurable {
        private String call;

        @Override
        public void configure(org.hibernate.type.Type type, Properties parameters, Dialect dialect) {
            call = "SELECT " + parameters.getProperty("call");
        }

        @Override
        public Serializable generate(SessionImplementor session, Object entity) {
            try (var select = session.getJDBCContext().getConnectionManager().getConnection().prepareStatement(call);
                    var row = select.executeQuery()) {
                row.next();
                return (Serializable) row.getObject(1);
            } catch (SQLException e) {
                throw new PersistenceException(e);
            }
        }
    }

    @Entity
    @Table(name = "orders")
    public static class Order {
        @Id
        @Type(type = "pg-uuid")
        UUID id;
        String note;
    }

    @Entity
    @Table(name = "drafts")
    public static class Draft {
        @Id
        @Type(type = "pg-uuid")
        UUID id = ShortComb.next();
        String note;
    }

    @Entity
    @Table(name = "events")
    public static class Event {
        @Id
        @Type(type = "pg-uuid")
        @GeneratedValue(generator = "uuid_v7")
        @GenericGenerator(name = "uuid_v7", strategy = "Jpa$ServerKey",
                parameters = @Parameter(name = "call", value = "idgen.uuid_v7()"))
        UUID id;
    }

    @Entity
    @Table(name = "visits")
    public static class Visit {
        @Id
        @GeneratedValue(generator = "snowflake")
        @GenericGenerator(name = "snowflake", strategy = "Jpa$ServerKey",
                parameters = @Parameter(name = "call", value = "idgen.snowflake()"))
        Long id;
    }

    @Entity
    @Table(name = "clicks")
    public static class Click {
        @Id
        @GeneratedValue(generator = "js_id")
        @GenericGenerator(name = "js_id", strategy = "Jpa$ServerKey",
                parameters = @Parameter(name = "call", value = "idgen.js_id()"))
        Long id;
    }

    @Entity
    @Table(name = "accounts")
    public static class Account {
        @Id
        @GeneratedValue(generator = "acct")
        @GenericGenerator(name = "acct", strategy = "Jpa$ServerKey",
                parameters = @Parameter(name = "call", value = "idgen.prefixed_id('acct')"))
        String id;
    }

    interface Work<T> {
        T in(EntityManager em) throws Exception;
    }

    static javax.persistence.EntityManagerFactory factory;

    static <T> T transaction(Work<T> work) throws Exception {
        var em = factory.createEntityManager();
        try {
            em.getTransaction().begin();
            var result = work.in(em);
            em.getTransaction().commit();
            return result;
        } finally {
            if (em.getTransaction().isActive())
                em.getTransaction().rollback();
            em.close();
        }
    }

    static <T> T persisted(T entity) throws Exception {
        return transaction(em -> {
            em.persist(entity);
            return entity;
        });
    }

    /** The SQLSTATE and constraint of a refusal, which is a cause of JPA's exception. */
    static void refused(String expected, Work<?> work) throws Exception {
        try {
            transaction(work);
        } catch (PersistenceException e) {
            Throwable cause = e;
            while (!(cause instanceof PSQLException) && cause.getCause() != null)
                cause = cause.getCause();
            Jdbc.check(cause instanceof PSQLException && Jdbc.violation((PSQLException) cause).equals(expected), cause.toString());
            return;
        }
        Jdbc.check(false, "accepted in place of " + expected);
    }

    static String noteOf(UUID id) throws Exception {
        return transaction(em -> em.find(Order.class, id).note);
    }

    static Order order(UUID id, String note) {
        var order = new Order();
        order.id = id;
        order.note = note;
        return order;
    }

    /** Creates an order once. The strings are sent without a type (stringtype=unspecified). */
    static Map.Entry<UUID, Boolean> createOrder(EntityManager em, UUID commandId, String note) {
        var row = (Object[]) em.createNativeQuery("SELECT CAST(entity_id AS text), created"
                + " FROM idgen.create_once(?, idgen.keyed_comb(area => 'orders'), 'create order', ?)")
                .setParameter(1, commandId.toString())
                .setParameter(2, "{\"note\": \"" + note + "\"}")
                .getSingleResult();
        var id = UUID.fromString((String) row[0]);
        if ((Boolean) row[1])
            em.persist(order(id, note));
        return Map.entry(id, (Boolean) row[1]);
    }

    static void defaultKey() throws Exception {
        var event = persisted(new Event());
        Jdbc.check(event.id.version() == 7, "not a key of the server");
        Jdbc.check(transaction(em -> em.find(Event.class, event.id)) != null, "no event");
    }

    static void clientKey() throws Exception {
        var draft = persisted(new Draft());
        Jdbc.check(transaction(em -> em.find(Draft.class, draft.id)) != null, "no draft");
        refused("23514 drafts_id_is_recent", em -> {
            var old = new Draft();
            old.id = ShortComb.of(Instant.now().minusSeconds(86400), new byte[16], Duration.ofMinutes(1), 2);
            em.persist(old);
            em.flush();
            return null;
        });
    }

    static void createOnce() throws Exception {
        var commandId = UUID.randomUUID();
        var first = transaction(em -> createOrder(em, commandId, "four"));
        var retry = transaction(em -> createOrder(em, commandId, "four"));
        Jdbc.check(first.getValue() && !retry.getValue() && retry.getKey().equals(first.getKey()), "not once");
        Jdbc.check(noteOf(first.getKey()).equals("four"), "no order of the command");
        refused("23514 creation_identifiers_same_command", em -> createOrder(em, commandId, "five"));
    }

    static void bigintKeys() throws Exception {
        var visit = persisted(new Visit());
        Jdbc.check(visit.id > 1L << 53 && transaction(em -> em.find(Visit.class, visit.id)) != null, "no visit");
        var click = persisted(new Click());
        Jdbc.check(click.id < 1L << 53 && transaction(em -> em.find(Click.class, click.id)) != null, "no click");
    }

    static void prefixedId() throws Exception {
        var id = persisted(new Account()).id;
        Jdbc.check(id.matches("acct_[0-9a-z]{25}") && transaction(em -> em.find(Account.class, id)) != null, id);
        refused("23514 prefixed_id_check", em -> em.createNativeQuery("INSERT INTO accounts (id) VALUES (?)")
                .setParameter(1, id.replace("acct", "order"))
                .executeUpdate());
    }

    static List<?> eventsWithin(OffsetDateTime start, OffsetDateTime stop) throws Exception {
        return transaction(em -> em
                .createNativeQuery("SELECT CAST(id AS text) FROM events WHERE idgen.uuid_v7_within(id, ?, ?)")
                .setParameter(1, start.toString())
                .setParameter(2, stop.toString())
                .getResultList());
    }

    static void rangeOfTime() throws Exception {
        var id = persisted(new Event()).id.toString();
        var now = OffsetDateTime.now();
        Jdbc.check(eventsWithin(now.minusHours(1), now.plusHours(1)).contains(id), "the event is not in its hours");
        Jdbc.check(!eventsWithin(now.plusHours(1), now.plusHours(2)).contains(id), "the event is in a later hour");
    }

    public static void main(String[] arguments) throws Exception {
        Jdbc.program = "hibernate";
        var env = System.getenv();
        var url = "jdbc:postgresql://%s:%s/%s?stringtype=unspecified"
                .formatted(env.get("PGHOST"), env.get("PGPORT"), env.get("PGDATABASE"));
        factory = Persistence.createEntityManagerFactory("clients", Map.of(
                "hibernate.connection.url", url, "hibernate.connection.username", env.get("PGUSER")));
        if (List.of(arguments).contains("orders")) {
            Jdbc.create((commandId, note) -> transaction(em -> createOrder(em, commandId, note)).getKey());
            System.exit(0);
        }
        Jdbc.run(null, "generator", Jdbc::generator);
        Jdbc.run(null, "default key", db -> defaultKey());
        Jdbc.run(null, "client key", db -> clientKey());
        Jdbc.run(null, "create once", db -> createOnce());
        Jdbc.run(null, "bigint keys", db -> bigintKeys());
        Jdbc.run(null, "prefixed id", db -> prefixedId());
        Jdbc.run(null, "range of time", db -> rangeOfTime());
        System.exit(Jdbc.failed ? 1 : 0);
    }
}
