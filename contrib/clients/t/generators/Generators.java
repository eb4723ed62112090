import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Scanner;
import java.util.UUID;

/** The generators of Java, see t/003_generators.pl */
public final class Generators {
    static byte[] bytes(String hex) {
        byte[] bytes = new BigInteger("1" + hex, 16).toByteArray(); // keeps leading zeros
        return Arrays.copyOfRange(bytes, bytes.length - 16, bytes.length);
    }

    public static void main(String[] args) throws Exception {
        Scanner lines = new Scanner(System.in, "UTF-8");
        while (lines.hasNextLine()) {
            String[] w = lines.nextLine().split("\t", -1);
            Object id = switch (w[0]) {
                case "short" -> ShortComb.of(Instant.ofEpochMilli(Long.parseLong(w[3])), bytes(w[4]),
                    Duration.ofMillis(Long.parseLong(w[1])), Integer.parseInt(w[2]));
                case "hmac" -> HmacComb.of(bytes(w[1]), w[2], Long.parseLong(w[4]), bytes(w[5]), Long.parseLong(w[3]));
                default -> ShortComb.next() + " " + HmacComb.next(bytes(w[1]), w[2]);
            };
            System.out.println(id);
        }
    }
}
