// C#: mcs -out:build/csharp.exe csharp/ShortComb.cs csharp/KnownAnswers.cs && mono build/csharp.exe
using System;
using System.IO;
using System.Linq;

public static class KnownAnswers
{
    static string Check()
    {
        foreach (var line in File.ReadLines("short_comb_vectors.csv").Skip(1))
        {
            var answer = line.Split(',');
            var period = TimeSpan.FromTicks(long.Parse(answer[0]) * TimeSpan.TicksPerMillisecond);
            var time = DateTimeOffset.FromUnixTimeMilliseconds(long.Parse(answer[2]));
            var random = Enumerable.Range(0, 16).Select(i => Convert.ToByte(answer[3].Substring(2 * i, 2), 16)).ToArray();
            var id = ShortComb.FromTimeAndBytes(time, random, period, int.Parse(answer[1]));
            if (id.ToString() != answer[4])
                return id + " in place of " + answer[4];
        }
        return ShortComb.NewGuid() == ShortComb.NewGuid() ? "two short COMBs are equal" : null;
    }

    static int Main()
    {
        var error = Check();
        Console.WriteLine(error == null ? "ok csharp: generator" : "not ok csharp: generator: " + error);
        return error == null ? 0 : 1;
    }
}
