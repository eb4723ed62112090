using System;
using System.Security.Cryptography;
using System.Text;

/// <summary>A COMB as idgen.hmac_comb() makes it: 4 bytes of HMAC-SHA-256 of the hour and its twelfth.</summary>
public static class HmacComb
{
    public static Guid NewGuid(byte[] key, string area)
    {
        var random = new byte[16];
        using (var source = RandomNumberGenerator.Create())
            source.GetBytes(random);
        return FromTimeAndBytes(key, area, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(), random, 3600000);
    }

    public static Guid FromTimeAndBytes(byte[] key, string area, long unixMs, byte[] random, long periodMs)
    {
        if (key.Length != 16) throw new ArgumentException("the key of an HMAC COMB must have 16 bytes");
        var bytes = (byte[])random.Clone();
        Array.Copy(Hash(key, 1, unixMs, periodMs, area), bytes, 3);
        bytes[3] = Hash(key, 2, unixMs * 12, periodMs, area)[0];
        bytes[6] = (byte)(bytes[6] & 0x0f | 0x40);
        bytes[8] = (byte)(bytes[8] & 0x3f | 0x80);
        return Guid.ParseExact(BitConverter.ToString(bytes).Replace("-", ""), "N"); // as ShortComb does
    }

    static byte[] Hash(byte[] key, int level, long ms, long period, string area)
    {
        var number = ms / period - (ms % period < 0 ? 1 : 0); // rounded down
        using (var mac = new HMACSHA256(key))
            return mac.ComputeHash(Encoding.UTF8.GetBytes(level + " " + period + " " + number + " " + area));
    }
}
