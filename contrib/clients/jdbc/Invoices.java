import java.security.GeneralSecurityException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.UUID;

/** The application generates the keys, with a secret key from its settings. */
public final class Invoices {
    private static final byte[] KEY = HexFormat.of().parseHex(System.getenv("ID_KEY"));

    public record Invoice(UUID id, UUID orderId) {
        public static Invoice of(UUID orderId) throws GeneralSecurityException {
            return new Invoice(Combs.hmacComb(KEY, "invoices"), orderId);
        }
    }

    /** A client that received no answer calls this method again with the same invoice. */
    public static void insert(Connection db, Invoice invoice) throws SQLException {
        var sql = "INSERT INTO invoices (id, order_id) VALUES (?, ?) ON CONFLICT (id) DO NOTHING";
        try (var insert = db.prepareStatement(sql)) {
            insert.setObject(1, invoice.id);
            insert.setObject(2, invoice.orderId);
            insert.executeUpdate();
        }
    }
}
