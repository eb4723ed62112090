import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Scanner;
import java.util.UUID;
import java.util.stream.Stream;
import org.postgresql.util.PSQLException;

/** Answers the commands of programs.txt by the template of this folder. */
public final class Main {
    static List<?> answer(Connection db, String command, String[] words) throws Exception {
        switch (command) {
            case "migrate":
                try (var statement = db.createStatement()) {
                    statement.execute(Files.readString(Path.of("migration.sql")));
                }
                return List.of();
            case "insert":
                return List.of(Orders.insert(db, null, words[0]));
            case "parent_and_child":
                var insert = "INSERT INTO customers (name) VALUES (?) RETURNING id";
                var customer = Orders.ids(db, insert, "a customer").get(0);
                return List.of(customer, Orders.insert(db, customer, words[0]));
            case "bulk":
                return Orders.insert(db, Collections.nCopies(Integer.parseInt(words[1]), words[0]));
            case "create_once":
                var order = Orders.createOnce(db, UUID.fromString(words[0]), words[1]);
                return List.of(order.id(), order.note());
            case "graph":
                var invoice = Invoices.Invoice.of(words[0], "a line", "another line");
                Invoices.insert(db, List.of(invoice));
                return Stream.concat(Stream.of(invoice.id()), invoice.lines().stream().map(Invoices.Line::id)).toList();
            case "bulk_with_keys":
                var invoices = new ArrayList<Invoices.Invoice>();
                for (int n = Integer.parseInt(words[1]); n > 0; n--) invoices.add(Invoices.Invoice.of(words[0]));
                Invoices.insert(db, invoices);
                return invoices.stream().map(Invoices.Invoice::id).toList();
            case "insert_with_key":
                Invoices.insert(db, List.of(new Invoices.Invoice(UUID.fromString(words[0]), words[1], List.of())));
                return List.of(words[0]);
            default:
                throw new IllegalArgumentException(command);
        }
    }

    static List<String> error(SQLException error) {
        var cause = error instanceof BatchUpdateException ? error.getCause() : error;
        var message = cause instanceof PSQLException of ? of.getServerErrorMessage() : null;
        var constraint = message == null || message.getConstraint() == null ? "" : message.getConstraint();
        return List.of("error", error.getSQLState(), constraint, error.getMessage().replaceAll("\\s+", " "));
    }

    public static void main(String[] args) throws Exception {
        var env = System.getenv();
        var url = "jdbc:postgresql://%s:%s/%s?user=%s".formatted(
                env.get("PGHOST"), env.get("PGPORT"), env.get("PGDATABASE"), env.get("PGUSER"));
        for (var in = new Scanner(System.in); in.hasNextLine(); ) {
            var line = in.nextLine().split("\t", 2);
            var answer = new ArrayList<Object>();
            try (var db = DriverManager.getConnection(url)) {
                db.setAutoCommit(false);
                answer.add("ok");
                answer.addAll(answer(db, line[0], line.length == 1 ? new String[0] : line[1].split("\t")));
                db.commit();
            } catch (SQLException e) {
                answer.clear();
                answer.addAll(error(e));
            }
            System.out.println(String.join("\t", answer.stream().map(Object::toString).toList()));
        }
    }
}
