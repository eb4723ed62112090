using System;
using System.Security.Cryptography;

/// <summary>A short COMB: the number of the minute modulo 65536, then 106 random bits, as a UUID of version 4.</summary>
public static class ShortComb
{
    public static Guid NewGuid()
    {
        var random = new byte[16];
        using (var source = RandomNumberGenerator.Create())
            source.GetBytes(random);
        return FromTimeAndBytes(DateTimeOffset.UtcNow, random);
    }

    public static Guid FromTimeAndBytes(DateTimeOffset now, byte[] random)
    {
        var minute = now.ToUnixTimeSeconds() / 60;
        var b = (byte[])random.Clone();
        b[0] = (byte)(minute >> 8);
        b[1] = (byte)minute;
        b[6] = (byte)(b[6] & 0x0f | 0x40);
        b[8] = (byte)(b[8] & 0x3f | 0x80);
        // new Guid(byte[]) reads the first three fields in little-endian order
        return new Guid(b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3], (short)(b[4] << 8 | b[5]), (short)(b[6] << 8 | b[7]),
                        b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    }
}
