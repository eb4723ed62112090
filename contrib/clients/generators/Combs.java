import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Generates version 4 COMBs as idgen does, and version 7 UUIDs. */
public final class Combs {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Begins with an HMAC of the hour and its twelfth. The server's key file contains the same 16-byte key. */
    public static UUID hmacComb(byte[] key, String area) throws GeneralSecurityException {
        return hmacComb(key, area, System.currentTimeMillis(), random(), 3_600_000);
    }

    static UUID hmacComb(byte[] key, String area, long ms, byte[] bytes, long period) throws GeneralSecurityException {
        if (key.length != 16) throw new IllegalArgumentException("the key of an HMAC COMB must have 16 bytes");
        if (area.getBytes(StandardCharsets.UTF_8).length > 63)
            throw new IllegalArgumentException("an area must have at most 63 bytes");
        System.arraycopy(hash(key, 1, period, Math.floorDiv(ms, period), area), 0, bytes, 0, 3);
        bytes[3] = hash(key, 2, period, Math.floorDiv(ms * 12, period), area)[0];
        return stamp(bytes, 4);
    }

    private static byte[] hash(byte[] key, int level, long period, long n, String area)
            throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal((level + " " + period + " " + n + " " + area).getBytes(StandardCharsets.UTF_8));
    }

    /** Begins with the minute modulo 65536. */
    public static UUID shortComb() {
        return shortComb(System.currentTimeMillis(), random(), 60_000, 2);
    }

    static UUID shortComb(long ms, byte[] bytes, long period, int prefixBytes) {
        setPrefix(bytes, Math.floorDiv(ms, period), prefixBytes);
        return stamp(bytes, 4);
    }

    /** Generates command ids before JDK 26, which has UUID.ofEpochMillis(). */
    public static UUID uuidV7() {
        return uuidV7(System.currentTimeMillis(), random());
    }

    static UUID uuidV7(long ms, byte[] bytes) {
        setPrefix(bytes, ms, 6);
        return stamp(bytes, 7);
    }

    private static void setPrefix(byte[] bytes, long number, int length) {
        for (int i = length - 1; i >= 0; i--, number >>= 8) bytes[i] = (byte) number;
    }

    private static byte[] random() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return bytes;
    }

    private static UUID stamp(byte[] bytes, int version) {
        if (bytes.length != 16) throw new IllegalArgumentException("a COMB must have 16 bytes");
        bytes[6] = (byte) (bytes[6] & 0x0f | version << 4);
        bytes[8] = (byte) (bytes[8] & 0x3f | 0x80); // variant of RFC 9562
        return new UUID(ByteBuffer.wrap(bytes).getLong(0), ByteBuffer.wrap(bytes).getLong(8));
    }
}
