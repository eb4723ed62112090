import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** The server generates the keys. */
public final class Orders {
    public record Order(UUID id, String note) {}

    public static UUID insert(Connection db, UUID customer, String note) throws SQLException {
        try (var insert = db.prepareStatement("INSERT INTO orders (customer_id, note) VALUES (?, ?)", new String[] {"id"})) {
            insert.setObject(1, customer);
            insert.setString(2, note);
            insert.executeUpdate();
            return keys(insert).get(0);
        }
    }

    public static UUID insertCustomer(Connection db, String name) throws SQLException {
        try (var insert = db.prepareStatement("INSERT INTO customers (name) VALUES (?)", new String[] {"id"})) {
            insert.setString(1, name);
            insert.executeUpdate();
            return keys(insert).get(0);
        }
    }

    public static List<UUID> insert(Connection db, List<String> notes) throws SQLException {
        try (var insert = db.prepareStatement("INSERT INTO orders (note) SELECT unnest(?)", new String[] {"id"})) {
            insert.setArray(1, db.createArrayOf("text", notes.toArray()));
            insert.executeUpdate();
            return keys(insert);
        }
    }

    private static List<UUID> keys(PreparedStatement insert) throws SQLException {
        var ids = new ArrayList<UUID>();
        try (var keys = insert.getGeneratedKeys()) {
            while (keys.next()) ids.add(keys.getObject("id", UUID.class));
        }
        return ids;
    }

    /** In a transaction, so without autocommit. The client generates the command id once, and repeats it. */
    public static Order createOnce(Connection db, UUID command, String note) throws SQLException {
        UUID id;
        boolean created;
        try (var once = db.prepareStatement("SELECT entity_id, created FROM idgen.create_once(?, "
                + "idgen.keyed_comb(area => 'orders'), 'create order', jsonb_build_object('note', ?::text))")) {
            once.setObject(1, command);
            once.setString(2, note);
            try (var row = once.executeQuery()) {
                row.next();
                id = row.getObject("entity_id", UUID.class);
                created = row.getBoolean("created");
            }
        }
        if (created) {
            try (var insert = db.prepareStatement("INSERT INTO orders (id, note) VALUES (?, ?)")) {
                insert.setObject(1, id);
                insert.setString(2, note);
                insert.executeUpdate();
            }
        }
        try (var select = db.prepareStatement("SELECT id, note FROM orders WHERE id = ?")) {
            select.setObject(1, id);
            try (var row = select.executeQuery()) {
                row.next();
                return new Order(row.getObject("id", UUID.class), row.getString("note"));
            }
        }
    }
}
