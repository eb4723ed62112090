// C#: mcs -out:build/csharp.exe csharp/ShortComb.cs csharp/KnownAnswers.cs && mono build/csharp.exe
using System;
using System.IO;
using System.Linq;

public static class KnownAnswers
{
    static string Check()
    {
        foreach (var line in File.ReadLines("short_comb.txt").Where(line => !line.StartsWith("#")))
        {
            var answer = line.Split(' ');
            var time = DateTimeOffset.FromUnixTimeMilliseconds(long.Parse(answer[0]));
            var random = Enumerable.Range(0, 16).Select(i => Convert.ToByte(answer[1].Substring(2 * i, 2), 16)).ToArray();
            var id = ShortComb.FromTimeAndBytes(time, random);
            if (id.ToString() != answer[2])
                return id + " in place of " + answer[2];
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
