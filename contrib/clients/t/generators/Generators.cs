using System;
using System.Linq;
using System.Text;

/// <summary>The generators of C#, see t/003_generators.pl</summary>
public static class Generators
{
    static byte[] Bytes(string hex)
    {
        return Enumerable.Range(0, 16).Select(i => Convert.ToByte(hex.Substring(2 * i, 2), 16)).ToArray();
    }

    static object Run(string[] w)
    {
        if (w[0] == "hmac")
            return HmacComb.FromTimeAndBytes(Bytes(w[1]), w[2], long.Parse(w[4]), Bytes(w[5]), long.Parse(w[3]));
        if (w[0] == "now")
            return ShortComb.NewGuid() + " " + HmacComb.NewGuid(Bytes(w[1]), w[2]);
        var period = TimeSpan.FromTicks(long.Parse(w[1]) * TimeSpan.TicksPerMillisecond);
        return ShortComb.FromTimeAndBytes(DateTimeOffset.FromUnixTimeMilliseconds(long.Parse(w[3])), Bytes(w[4]), period,
            int.Parse(w[2]));
    }

    static void Main()
    {
        Console.InputEncoding = new UTF8Encoding(false);
        for (var line = Console.ReadLine(); line != null; line = Console.ReadLine())
            Console.WriteLine(Run(line.Split('\t')));
    }
}
