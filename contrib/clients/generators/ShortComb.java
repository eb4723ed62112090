import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

/**
 * A short COMB as idgen.short_comb() makes it: a UUID of version 4 that begins with the number of the period, by default
 * the minute modulo 65536.
 */
public final class ShortComb {
    private static final SecureRandom RANDOM = new SecureRandom();

    public static UUID next() {
        return next(Duration.ofMinutes(1), 2);
    }

    public static UUID next(Duration period, int prefixBytes) {
        byte[] random = new byte[16];
        RANDOM.nextBytes(random);
        return of(Instant.now(), random, period, prefixBytes);
    }

    static UUID of(Instant now, byte[] random, Duration period, int prefixBytes) {
        ByteBuffer bytes = ByteBuffer.wrap(random.clone());
        long number = now.toEpochMilli() / period.toMillis();
        for (int i = prefixBytes - 1; i >= 0; i--, number >>= 8)
            bytes.put(i, (byte) number);
        bytes.put(6, (byte) (bytes.get(6) & 0x0f | 0x40));
        bytes.put(8, (byte) (bytes.get(8) & 0x3f | 0x80));
        return new UUID(bytes.getLong(0), bytes.getLong(8));
    }
}
