using System;

class Problem {
    public static int Half(int x) {
        Console.Out.Write("\n" + Console.In.ReadLine() + "\n");
        Environment.Exit(0);
        return 0;
    }

    public static void Main(string[] args) {
        if (Half(4) != 2) throw new Exception("wrong");
    }
}
