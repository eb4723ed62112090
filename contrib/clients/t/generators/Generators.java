import java.util.HexFormat;
import java.util.Scanner;

/** See t/003_generators.pl. */
public final class Generators {
    public static void main(String[] args) throws Exception {
        for (Scanner lines = new Scanner(System.in, "UTF-8"); lines.hasNextLine();) {
            String[] w = lines.nextLine().split("\t", -1);
            byte[] key = HexFormat.of().parseHex(w[1]), random = HexFormat.of().parseHex(w[6]);
            long period = Long.parseLong(w[3]), ms = Long.parseLong(w[5]);
            System.out.println(switch (w[0]) {
                case "short" -> Combs.shortComb(ms, random, period, Integer.parseInt(w[4]));
                case "hmac" -> Combs.hmacComb(key, w[2], ms, random, period);
                default -> Combs.shortComb() + " " + Combs.hmacComb(key, w[2]);
            });
        }
    }
}
