using System;
using System.Linq;
using System.Text;

/// <summary>See t/003_generators.pl.</summary>
public static class Generators
{
    static byte[] Bytes(string hex)
    {
        return Enumerable.Range(0, hex.Length / 2).Select(i => Convert.ToByte(hex.Substring(2 * i, 2), 16)).ToArray();
    }

    static void Main()
    {
        Console.InputEncoding = new UTF8Encoding(false);
        for (var line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            var w = line.Split('\t');
            byte[] key = Bytes(w[1]), random = Bytes(w[6]);
            long period = long.Parse(w[3]), ms = long.Parse(w[5]);
            Console.WriteLine(
                w[0] == "short" ? Combs.ShortComb(ms, random, period, int.Parse(w[4])).ToString()
                : w[0] == "hmac" ? Combs.HmacComb(key, w[2] == "\\N" ? null : w[2], ms, random, period).ToString()
                : Combs.ShortComb() + " " + Combs.HmacComb(key, w[2]));
        }
    }
}
