import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HexFormat;

/** See t/003_generators.pl. */
public final class Generators {
    public static void main(String[] args) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8")); // a Scanner ends lines at U+2028
        for (String line; (line = lines.readLine()) != null;) {
            String[] w = line.split("\t", -1);
            byte[] key = HexFormat.of().parseHex(w[1]), random = HexFormat.of().parseHex(w[6]);
            long period = Long.parseLong(w[3]), ms = Long.parseLong(w[5]);
            System.out.println(switch (w[0]) {
                case "short" -> Combs.shortComb(ms, random, period, Integer.parseInt(w[4]));
                case "hmac" -> Combs.hmacComb(key, w[2].equals("\\N") ? null : w[2], ms, random, period);
                case "v7" -> Combs.uuidV7(ms, random) + " " + Combs.uuidV7();
                default -> Combs.shortComb() + " " + Combs.hmacComb(key, w[2]);
            });
        }
    }
}
