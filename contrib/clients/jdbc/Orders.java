import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** The server generates the keys. */
public final class Orders {
    public record Order(UUID id, OffsetDateTime createdAt, String note) {
        /** The position before the first page of a list */
        public static final Order NONE = new Order(new UUID(-1, -1), OffsetDateTime.MAX, "");

        private static Order of(ResultSet row) throws SQLException {
            var createdAt = row.getObject("created_at", OffsetDateTime.class);
            return new Order(row.getObject("id", UUID.class), createdAt, row.getString("note"));
        }
    }

    public static UUID insert(Connection db, String note) throws SQLException {
        return ids(db, "INSERT INTO orders (note) VALUES (?) RETURNING id", note).get(0);
    }

    public static List<UUID> insert(Connection db, List<String> notes) throws SQLException {
        var array = db.createArrayOf("text", notes.toArray());
        return ids(db, "INSERT INTO orders (note) SELECT unnest(?) RETURNING id", array);
    }

    /** Returns the newest orders after NONE, or the orders after the last one of the previous page. */
    public static List<Order> after(Connection db, Order last, int limit) throws SQLException {
        var sql = "SELECT * FROM orders WHERE (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?";
        var orders = new ArrayList<Order>();
        try (var statement = prepare(db, sql, last.createdAt, last.id, limit); var rows = statement.executeQuery()) {
            while (rows.next()) orders.add(Order.of(rows));
        }
        return orders;
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
            + "idgen.check_recent_uuid_v7(?, past_tolerance => '1 day', future_tolerance => '10 minutes'), "
            + "idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', ?::text))";

    /** Requires autocommit to be off. A client generates the command id once, and sends it in every retry. */
    public static Order createOnce(Connection db, UUID command, String note) throws SQLException {
        if (db.getAutoCommit()) throw new IllegalStateException("autocommit is on");
        UUID id;
        try (var once = prepare(db, CREATE_ONCE, command, note); var creation = once.executeQuery()) {
            creation.next();
            id = creation.getObject("entity_id", UUID.class);
            if (creation.getBoolean("created"))
                ids(db, "INSERT INTO orders (id, note) VALUES (?, ?) RETURNING id", id, note);
        }
        try (var select = prepare(db, "SELECT * FROM orders WHERE id = ?", id); var row = select.executeQuery()) {
            row.next();
            return Order.of(row);
        }
    }

    public static UUID newCommand() {
        return Combs.uuidV7(); // JDK 26 has UUID.ofEpochMillis(System.currentTimeMillis())
    }
}
