// JDBC (pgjdbc 42.5): javac -d build -cp /usr/share/java/postgresql.jar Jdbc.java ShortComb.java
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Scanner;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.postgresql.util.PSQLException;

public class Jdbc {
    /** The SQLSTATE of a refusal, and the name of the constraint that was violated. */
    static String violation(PSQLException e) {
        var message = e.getServerErrorMessage();
        return e.getSQLState() + " " + (message == null ? null : message.getConstraint());
    }

    /** Inserts an order with a key that the database makes, and reads it back. */
    static UUID insertOrder(Connection db, String note) throws SQLException {
        try (var insert = db.prepareStatement("INSERT INTO orders (note) VALUES (?)", new String[] {"id"})) {
            insert.setString(1, note);
            insert.executeUpdate();
            try (var keys = insert.getGeneratedKeys()) {
                keys.next();
                return keys.getObject("id", UUID.class);
            }
        }
    }

    /** Inserts a row with a key that is known. */
    static void insert(Connection db, String table, UUID id, String note) throws SQLException {
        try (var insert = db.prepareStatement("INSERT INTO " + table + " (id, note) VALUES (?, ?)")) {
            insert.setObject(1, id);
            insert.setString(2, note);
            insert.executeUpdate();
        }
    }

    record Creation(UUID entityId, boolean created) {}

    /** Creates an order once, however often the command is sent. */
    static Creation createOrder(Connection db, UUID commandId, String note) throws SQLException {
        db.setAutoCommit(false);
        // setString() sends varchar, which is not converted to jsonb: the server builds the request
        try (var once = db.prepareStatement(
                "SELECT entity_id, created FROM idgen.create_once("
                + "?, idgen.keyed_comb(area => 'orders'), 'create order', jsonb_build_object('note', ?::text))")) {
            once.setObject(1, commandId);
            once.setString(2, note);
            try (var row = once.executeQuery()) {
                row.next();
                var creation = new Creation(row.getObject("entity_id", UUID.class), row.getBoolean("created"));
                if (creation.created())
                    insert(db, "orders", creation.entityId(), note);
                db.commit();
                return creation;
            }
        } catch (SQLException e) {
            db.rollback();
            throw e;
        } finally {
            db.setAutoCommit(true);
        }
    }

    /** Attempts a command until it is answered. Its id is made once, and is the same in every attempt. */
    static <T> T untilAnswered(Callable<T> attempt) throws Exception {
        for (;; Thread.sleep(100)) {
            try {
                return attempt.call();
            } catch (Exception e) {
                Throwable cause = e;
                while (!(cause instanceof SQLException) && cause.getCause() != null)
                    cause = cause.getCause();
                if (!(cause instanceof SQLException lost) || !lost.getSQLState().matches("(08|40|57P).*"))
                    throw e;
            }
        }
    }

    interface Orders {
        UUID create(UUID commandId, String note) throws Exception;
    }

    /** Creates an order for each command id that it reads. */
    static void create(Orders orders) throws Exception {
        for (var in = new Scanner(System.in); in.hasNext(); ) {
            var id = in.next();
            System.out.println(untilAnswered(() -> orders.create(UUID.fromString(id), id)));
        }
    }

    static void generator(Connection db) throws Exception {
        var lines = Files.readAllLines(Path.of("short_comb_vectors.csv"));
        for (var line : lines.subList(1, lines.size())) {
            var answer = line.split(",");
            var id = ShortComb.of(Instant.ofEpochMilli(Long.parseLong(answer[2])), HexFormat.of().parseHex(answer[3]),
                                  Duration.ofMillis(Long.parseLong(answer[0])), Integer.parseInt(answer[1]));
            check(id.equals(UUID.fromString(answer[4])), id + " in place of " + answer[4]);
        }
        check(!ShortComb.next().equals(ShortComb.next()), "two short COMBs are equal");
    }

    static String noteOfOrder(Connection db, UUID id) throws SQLException {
        try (var select = db.prepareStatement("SELECT note FROM orders WHERE id = ?")) {
            select.setObject(1, id);
            try (var row = select.executeQuery()) {
                return row.next() ? row.getString("note") : "no order " + id;
            }
        }
    }

    static void defaultKey(Connection db) throws SQLException {
        var note = noteOfOrder(db, insertOrder(db, "one"));
        check(note.equals("one"), note);
    }

    static void clientKey(Connection db) throws SQLException {
        insert(db, "drafts", ShortComb.next(), "two");
        try {
            insert(db, "drafts", ShortComb.of(Instant.now().minusSeconds(86400), new byte[16], Duration.ofMinutes(1), 2), "three");
        } catch (PSQLException e) {
            check(violation(e).equals("23514 drafts_id_is_recent"), violation(e));
            return;
        }
        check(false, "an old key was accepted");
    }

    static void createOnce(Connection db) throws SQLException {
        var commandId = UUID.randomUUID();
        var first = createOrder(db, commandId, "four");
        check(first.created(), "the first call did not create");
        for (int retry = 1; retry <= 7; retry++)    // the server prepares the statement at the fifth
            check(createOrder(db, commandId, "four").equals(new Creation(first.entityId(), false)), "retry " + retry);
        check(noteOfOrder(db, first.entityId()).equals("four"), "no order of the command");
        try {
            createOrder(db, commandId, "five");
        } catch (PSQLException e) {
            check(violation(e).equals("23514 creation_identifiers_same_command"), violation(e));
            return;
        }
        check(false, "a reused command id was accepted");
    }

    static void bigintKeys(Connection db) throws SQLException {
        for (var table : List.of("visits", "clicks")) {
            try (var statement = db.createStatement();
                    var row = statement.executeQuery(
                            "INSERT INTO " + table + " DEFAULT VALUES RETURNING id, id::text AS digits")) {
                row.next();
                check(Long.toString(row.getLong("id")).equals(row.getString("digits")), table);
            }
        }
        long beyondDouble = (1L << 53) + 1;
        try (var delete = db.prepareStatement("DELETE FROM visits WHERE id = ?");
                var insert = db.prepareStatement("INSERT INTO visits (id) VALUES (?) RETURNING id, id::text AS digits")) {
            delete.setLong(1, beyondDouble);
            delete.executeUpdate();
            insert.setLong(1, beyondDouble);
            try (var row = insert.executeQuery()) {
                row.next();
                check(row.getString("digits").equals("9007199254740993") && row.getLong("id") == beyondDouble, "2^53 + 1");
            }
        }
    }

    static void prefixedId(Connection db) throws SQLException {
        try (var statement = db.createStatement();
                var row = statement.executeQuery("INSERT INTO accounts DEFAULT VALUES RETURNING id");
                var insert = db.prepareStatement("INSERT INTO accounts (id) VALUES (?)")) {
            row.next();
            var id = row.getString("id");
            check(id.matches("acct_[0-9a-z]{25}"), id);
            insert.setString(1, id.replace("acct", "order"));
            insert.executeUpdate();
        } catch (PSQLException e) {
            check(violation(e).equals("23514 prefixed_id_check"), violation(e));
            return;
        }
        check(false, "another prefix was accepted");
    }

    static void rangeOfTime(Connection db) throws SQLException {
        UUID id;
        try (var insert = db.prepareStatement("INSERT INTO events (note) VALUES (?)", new String[] {"id"})) {
            insert.setString(1, "seven");
            insert.executeUpdate();
            try (var keys = insert.getGeneratedKeys()) {
                keys.next();
                id = keys.getObject("id", UUID.class);
            }
        }
        var now = OffsetDateTime.now();
        check(eventsWithin(db, now.minusHours(1), now.plusHours(1)).contains(id), "the event is not in its hours");
        check(!eventsWithin(db, now.plusHours(1), now.plusHours(2)).contains(id), "the event is in a later hour");
    }

    static Set<UUID> eventsWithin(Connection db, OffsetDateTime start, OffsetDateTime stop) throws SQLException {
        try (var select = db.prepareStatement("SELECT id FROM events WHERE idgen.uuid_v7_within(id, ?, ?)")) {
            select.setObject(1, start);
            select.setObject(2, stop);
            var ids = new HashSet<UUID>();
            try (var rows = select.executeQuery()) {
                while (rows.next())
                    ids.add(rows.getObject("id", UUID.class));
            }
            return ids;
        }
    }

    interface Task {
        void run(Connection db) throws Exception;
    }

    static String program = "jdbc";
    static boolean failed = false;

    static void run(Connection db, String name, Task task) {
        try {
            task.run(db);
            System.out.println("ok " + program + ": " + name);
        } catch (Exception e) {
            System.out.println("not ok " + program + ": " + name + ": " + e.getMessage().replace('\n', ' '));
            failed = true;
        }
    }

    static void check(boolean holds, String message) {
        if (!holds)
            throw new IllegalStateException(message);
    }

    static Connection connect() throws SQLException {
        var env = System.getenv();
        var url = "jdbc:postgresql://%s:%s/%s".formatted(env.get("PGHOST"), env.get("PGPORT"), env.get("PGDATABASE"));
        return DriverManager.getConnection(url, env.get("PGUSER"), null);
    }

    public static void main(String[] arguments) throws Exception {
        if (List.of(arguments).contains("orders")) {
            create((commandId, note) -> {
                try (var db = connect()) {
                    return createOrder(db, commandId, note).entityId();
                }
            });
            return;
        }
        try (var db = connect()) {
            run(db, "generator", Jdbc::generator);
            run(db, "default key", Jdbc::defaultKey);
            run(db, "client key", Jdbc::clientKey);
            run(db, "create once", Jdbc::createOnce);
            run(db, "bigint keys", Jdbc::bigintKeys);
            run(db, "prefixed id", Jdbc::prefixedId);
            run(db, "range of time", Jdbc::rangeOfTime);
        }
        System.exit(failed ? 1 : 0);
    }
}
