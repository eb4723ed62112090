import java.security.GeneralSecurityException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/** The application generates the keys, under a key of its settings. */
public final class Invoices {
    private static final byte[] KEY = HexFormat.of().parseHex(System.getenv("ID_KEY"));

    public record Line(UUID id, String note) {}

    public record Invoice(UUID id, String note, List<Line> lines) {
        public static Invoice of(String note, String... lines) throws GeneralSecurityException {
            var invoice = new Invoice(Combs.hmacComb(KEY, "invoices"), note, new ArrayList<>());
            for (var line : lines) invoice.lines.add(new Line(Combs.hmacComb(KEY, "invoice_lines"), line));
            return invoice;
        }
    }

    /** In a transaction. The client that gets no answer repeats this with the same invoices. */
    public static void insert(Connection db, List<Invoice> invoices) throws SQLException {
        var unlessThere = " ON CONFLICT (id) DO NOTHING";
        try (var insert = db.prepareStatement("INSERT INTO invoices (id, note) VALUES (?, ?)" + unlessThere);
                var insertLine = db.prepareStatement(
                        "INSERT INTO invoice_lines (id, invoice_id, note) VALUES (?, ?, ?)" + unlessThere)) {
            for (var invoice : invoices) {
                insert.setObject(1, invoice.id);
                insert.setString(2, invoice.note);
                insert.addBatch();
                for (var line : invoice.lines) {
                    insertLine.setObject(1, line.id);
                    insertLine.setObject(2, invoice.id);
                    insertLine.setString(3, line.note);
                    insertLine.addBatch();
                }
            }
            insert.executeBatch();
            insertLine.executeBatch();
        }
    }
}
