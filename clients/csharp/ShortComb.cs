using System;
using System.Security.Cryptography;

/// <summary>
/// A short COMB: the number of the minute modulo 65536, then 106 random bits, as a UUID of version 4.
/// </summary>
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
        var bytes = (byte[])random.Clone();
        bytes[0] = (byte)(minute >> 8 & 0xff);
        bytes[1] = (byte)(minute & 0xff);
        bytes[6] = (byte)(bytes[6] & 0x0f | 0x40);
        bytes[8] = (byte)(bytes[8] & 0x3f | 0x80);
        // not new Guid(bytes), which reads the first three fields in little-endian order
        return Guid.ParseExact(BitConverter.ToString(bytes).Replace("-", ""), "N");
    }
}
