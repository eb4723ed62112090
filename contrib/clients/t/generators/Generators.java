import java.nio.ByteBuffer;
import java.util.Scanner;
import java.util.UUID;

/** See t/003_generators.pl. */
public final class Generators {
    static byte[] bytes(String hex) {
        UUID id = UUID.fromString(hex.replaceAll("^(.{8})(.{4})(.{4})(.{4})", "$1-$2-$3-$4-"));
        long high = id.getMostSignificantBits(), low = id.getLeastSignificantBits();
        return ByteBuffer.allocate(16).putLong(high).putLong(low).array();
    }

    public static void main(String[] args) throws Exception {
        for (Scanner lines = new Scanner(System.in, "UTF-8"); lines.hasNextLine();) {
            String[] w = lines.nextLine().split("\t", -1);
            byte[] key = bytes(w[1]), random = bytes(w[6]);
            long period = Long.parseLong(w[3]), ms = Long.parseLong(w[5]);
            System.out.println(switch (w[0]) {
                case "short" -> Combs.shortComb(ms, random, period, Integer.parseInt(w[4]));
                case "hmac" -> Combs.hmacComb(key, w[2], ms, random, period);
                default -> Combs.shortComb() + " " + Combs.hmacComb(key, w[2]);
            });
        }
    }
}
