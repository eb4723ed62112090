import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Scanner;
import java.util.UUID;
import org.postgresql.util.PSQLException;

/** Answers the commands of programs.txt with the template in this folder. */
public final class Main {
    static List<?> answer(Connection db, String command, String[] words) throws Exception {
        switch (command) {
            case "order_with_invoice":
                var invoice = Invoices.Invoice.of(Orders.insert(db, words[0]));
                Invoices.insert(db, invoice);
                return List.of(invoice.orderId(), invoice.id());
            case "bulk":
                return Orders.insert(db, Collections.nCopies(Integer.parseInt(words[1]), words[0]));
            case "pages":
                var all = new ArrayList<UUID>();
                for (var last = Orders.Order.NONE; last != null; ) {
                    var page = Orders.after(db, last, Integer.parseInt(words[0]));
                    page.forEach(order -> all.add(order.id()));
                    last = page.isEmpty() ? null : page.get(page.size() - 1);
                }
                return all;
            case "new_command":
                return List.of(Orders.newCommand());
            case "create_once":
                var order = Orders.createOnce(db, UUID.fromString(words[0]), words[1]);
                return List.of(order.id(), order.note());
            case "unsafe":
                db.setAutoCommit(true);
                return answer(db, "create_once", words);
            case "insert_invoice":
                Invoices.insert(db, new Invoices.Invoice(UUID.fromString(words[0]), UUID.fromString(words[1])));
                return List.of();
            default:
                throw new IllegalArgumentException(command);
        }
    }

    static List<String> error(Exception exception) {
        if (!(exception instanceof SQLException error)) return List.of("error", "", "", exception.getMessage());
        var message = error instanceof PSQLException of ? of.getServerErrorMessage() : null;
        var constraint = message == null || message.getConstraint() == null ? "" : message.getConstraint();
        return List.of("error", error.getSQLState(), constraint, error.getMessage().replaceAll("\\s+", " "));
    }

    public static void main(String[] args) throws Exception {
        var env = System.getenv();
        var url = "jdbc:postgresql://%s:%s/%s?user=%s".formatted(
                env.get("PGHOST"), env.get("PGPORT"), env.get("PGDATABASE"), env.get("PGUSER"));
        if (env.containsKey("POOL_SETTING")) url += "&" + env.get("POOL_SETTING");
        Connection db = null;
        for (var in = new Scanner(System.in); in.hasNextLine(); ) {
            var line = in.nextLine().split("\t", 2);
            var answer = new ArrayList<Object>();
            try {
                if (db == null) db = DriverManager.getConnection(url);
                db.setAutoCommit(false);
                answer.add("ok");
                answer.addAll(answer(db, line[0], line.length == 1 ? new String[0] : line[1].split("\t")));
                db.commit();
            } catch (SQLException | IllegalStateException e) {
                if (db != null) db.close();
                db = null;
                answer.clear();
                answer.addAll(error(e));
            }
            System.out.println(String.join("\t", answer.stream().map(Object::toString).toList()));
        }
    }
}
