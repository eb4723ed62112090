using System;
using System.Security.Cryptography;
using System.Text;

/// <summary>Generates version 4 COMBs as idgen does.</summary>
public static class Combs
{
    /// <summary>Begins with an HMAC of the hour and its twelfth. The server's key file contains the same key.</summary>
    public static Guid HmacComb(byte[] key, string area)
    {
        return HmacComb(key, area, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(), RandomBytes(), 3600000);
    }

    public static Guid HmacComb(byte[] key, string area, long unixMs, byte[] random, long periodMs)
    {
        if (key.Length != 16) throw new ArgumentException("the key of an HMAC COMB must have 16 bytes");
        if (Encoding.UTF8.GetByteCount(area) > 63) throw new ArgumentException("an area must have at most 63 bytes");
        Array.Copy(Hash(key, 1, unixMs, periodMs, area), random, 3);
        random[3] = Hash(key, 2, unixMs * 12, periodMs, area)[0];
        return Stamp(random);
    }

    static byte[] Hash(byte[] key, int level, long ms, long period, string area)
    {
        var number = Number(ms, period);
        using (var mac = new HMACSHA256(key))
            return mac.ComputeHash(Encoding.UTF8.GetBytes(level + " " + period + " " + number + " " + area));
    }

    /// <summary>Begins with the minute modulo 65536.</summary>
    public static Guid ShortComb()
    {
        return ShortComb(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(), RandomBytes(), 60000, 2);
    }

    public static Guid ShortComb(long unixMs, byte[] random, long periodMs, int prefixBytes)
    {
        var number = Number(unixMs, periodMs);
        for (var i = prefixBytes - 1; i >= 0; i--, number >>= 8)
            random[i] = (byte)(number & 0xff);
        return Stamp(random);
    }

    static long Number(long ms, long period)
    {
        return ms / period - (ms % period < 0 ? 1 : 0); // round down
    }

    static byte[] RandomBytes()
    {
        var random = new byte[16];
        using (var source = RandomNumberGenerator.Create())
            source.GetBytes(random);
        return random;
    }

    static Guid Stamp(byte[] bytes)
    {
        if (bytes.Length != 16) throw new ArgumentException("a COMB must have 16 bytes");
        bytes[6] = (byte)(bytes[6] & 0x0f | 0x40); // version 4
        bytes[8] = (byte)(bytes[8] & 0x3f | 0x80); // variant of RFC 9562
        // Do not use new Guid(bytes), which reads the first three fields in little-endian order.
        return Guid.ParseExact(BitConverter.ToString(bytes).Replace("-", ""), "N");
    }
}
