import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.UUID;

/** A short COMB: the number of the minute modulo 65536, then 106 random bits, as a UUID of version 4. */
public final class ShortComb {
    private static final SecureRandom RANDOM = new SecureRandom();

    public static UUID next() {
        byte[] random = new byte[16];
        RANDOM.nextBytes(random);
        return of(Instant.now(), random);
    }

    static UUID of(Instant now, byte[] random) {
        ByteBuffer bytes = ByteBuffer.wrap(random.clone());
        bytes.putShort(0, (short) (now.getEpochSecond() / 60));
        bytes.put(6, (byte) (bytes.get(6) & 0x0f | 0x40));
        bytes.put(8, (byte) (bytes.get(8) & 0x3f | 0x80));
        return new UUID(bytes.getLong(0), bytes.getLong(8));
    }
}
