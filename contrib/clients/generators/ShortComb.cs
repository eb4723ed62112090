using System;
using System.Security.Cryptography;

/// <summary>
/// A short COMB as idgen.short_comb() makes it: a UUID of version 4 that begins with the number of the
/// period, by default the minute modulo 65536.
/// </summary>
public static class ShortComb
{
    public static Guid NewGuid()
    {
        return NewGuid(TimeSpan.FromMinutes(1), 2);
    }

    public static Guid NewGuid(TimeSpan period, int prefixBytes)
    {
        var random = new byte[16];
        using (var source = RandomNumberGenerator.Create())
            source.GetBytes(random);
        return FromTimeAndBytes(DateTimeOffset.UtcNow, random, period, prefixBytes);
    }

    public static Guid FromTimeAndBytes(DateTimeOffset now, byte[] random, TimeSpan period, int prefixBytes)
    {
        var number = now.ToUnixTimeMilliseconds() / (period.Ticks / TimeSpan.TicksPerMillisecond);
        var bytes = (byte[])random.Clone();
        for (var i = prefixBytes - 1; i >= 0; i--, number >>= 8)
            bytes[i] = (byte)(number & 0xff);
        bytes[6] = (byte)(bytes[6] & 0x0f | 0x40);
        bytes[8] = (byte)(bytes[8] & 0x3f | 0x80);
        // not new Guid(bytes), which reads the first three fields in little-endian order
        return Guid.ParseExact(BitConverter.ToString(bytes).Replace("-", ""), "N");
    }
}
