import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** The server generates the keys. */
public final class Orders {
    public record Order(UUID id, String note) {}

    public static UUID insert(Connection db, String note) throws SQLException {
        return ids(db, "INSERT INTO orders (note) VALUES (?) RETURNING id", note).get(0);
    }

    public static List<UUID> insert(Connection db, List<String> notes) throws SQLException {
        var array = db.createArrayOf("text", notes.toArray());
        return ids(db, "INSERT INTO orders (note) SELECT unnest(?) RETURNING id", array);
    }

    private static List<UUID> ids(Connection db, String sql, Object... values) throws SQLException {
        var ids = new ArrayList<UUID>();
        try (var statement = prepare(db, sql, values); var rows = statement.executeQuery()) {
            while (rows.next()) ids.add(rows.getObject("id", UUID.class));
        }
        return ids;
    }

    private static PreparedStatement prepare(Connection db, String sql, Object... values) throws SQLException {
        var statement = db.prepareStatement(sql);
        for (int i = 0; i < values.length; i++) statement.setObject(i + 1, values[i]);
        return statement;
    }

    private static final String CREATE_ONCE = "SELECT entity_id, created FROM idgen.create_once("
            + "?, idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', ?::text))";

    /** In a transaction, so without autocommit. The client generates the command id once, and repeats it. */
    public static Order createOnce(Connection db, UUID command, String note) throws SQLException {
        UUID id;
        try (var once = prepare(db, CREATE_ONCE, command, note); var creation = once.executeQuery()) {
            creation.next();
            id = creation.getObject("entity_id", UUID.class);
            if (creation.getBoolean("created"))
                ids(db, "INSERT INTO orders (id, note) VALUES (?, ?) RETURNING id", id, note);
        }
        try (var select = prepare(db, "SELECT note FROM orders WHERE id = ?", id); var row = select.executeQuery()) {
            row.next();
            return new Order(id, row.getString("note"));
        }
    }
}
