import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A COMB as idgen.hmac_comb() makes it: 4 bytes of HMAC-SHA-256 of the hour and its twelfth, under a key of 16 bytes. */
public final class HmacComb {
    private static final SecureRandom RANDOM = new SecureRandom();

    public static UUID next(byte[] key, String area) throws GeneralSecurityException {
        byte[] random = new byte[16];
        RANDOM.nextBytes(random);
        return of(key, area, System.currentTimeMillis(), random, 3_600_000);
    }

    static UUID of(byte[] key, String area, long ms, byte[] random, long period) throws GeneralSecurityException {
        if (key.length != 16) throw new IllegalArgumentException("the key of an HMAC COMB must have 16 bytes");
        ByteBuffer bytes = ByteBuffer.wrap(random.clone());
        bytes.put(0, hash(key, 1, period, Math.floorDiv(ms, period), area), 0, 3);
        bytes.put(3, hash(key, 2, period, Math.floorDiv(ms * 12, period), area)[0]);
        bytes.put(6, (byte) (bytes.get(6) & 0x0f | 0x40)); // version 4
        bytes.put(8, (byte) (bytes.get(8) & 0x3f | 0x80)); // variant of RFC 9562
        return new UUID(bytes.getLong(0), bytes.getLong(8));
    }

    private static byte[] hash(byte[] key, int level, long period, long n, String area) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal((level + " " + period + " " + n + " " + area).getBytes(StandardCharsets.UTF_8));
    }
}
