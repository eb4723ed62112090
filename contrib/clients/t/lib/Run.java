import java.math.BigDecimal;
import java.nio.file.*;
import java.sql.*;
import java.time.OffsetDateTime;
import java.util.*;
import java.util.regex.Pattern;

/** JDBC: run the statements of a file, see contrib/clients/t/002_parameters.pl; with "unspecified", all parameters are texts. */
public final class Run {
    static Object typed(String type, String text) {
        return switch (type) {
            case "uuid" -> UUID.fromString(text);
            case "bigint" -> Long.valueOf(text);
            case "integer" -> Integer.valueOf(text);
            case "numeric" -> new BigDecimal(text);
            case "timestamp with time zone" -> text.equals("infinity") ? OffsetDateTime.MAX
                : OffsetDateTime.parse(text.replace(' ', 'T').replace("+00", "Z"));
            default -> text;
        };
    }

    public static void main(String[] args) throws Exception {
        boolean unspecified = args.length > 1;
        var url = "jdbc:postgresql://%s:%s/%s?user=%s".formatted(System.getenv("PGHOST"), System.getenv("PGPORT"),
            System.getenv("PGDATABASE"), System.getenv("PGUSER")) + (unspecified ? "&stringtype=unspecified" : "");
        try (var db = DriverManager.getConnection(url)) {
            db.setAutoCommit(false);
            for (var line : Files.readAllLines(Path.of(args[0]))) {
                var fields = line.split("\t");
                var types = fields[1].split("\\|");
                var values = fields[2].split("\\|");
                var order = new ArrayList<Integer>();
                var sql = Pattern.compile("\\$(\\d+)").matcher(fields[3]).replaceAll(match -> {
                    order.add(Integer.parseInt(match.group(1)) - 1);
                    return "?";
                });
                var before = db.setSavepoint();
                try (var statement = db.prepareStatement(sql)) {
                    for (int i = 0; i < order.size(); i++) {
                        int n = order.get(i);
                        if (types[n].equals("jsonb")) {
                            statement.setObject(i + 1, values[n], Types.OTHER);
                        } else {
                            statement.setObject(i + 1, unspecified ? values[n] : typed(types[n], values[n]));
                        }
                    }
                    statement.execute();
                    System.out.println("ok " + fields[0]);
                } catch (SQLException error) {
                    System.out.println(error.getSQLState() + " " + fields[0]);
                    System.err.println(error.getMessage());
                    db.rollback(before);
                }
            }
            db.rollback();
        }
    }
}
