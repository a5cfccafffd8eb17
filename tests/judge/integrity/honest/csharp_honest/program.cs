using System;
using System.Diagnostics;
class Problem {
    public static int Half(int x) { return x / 2; }

    public static void Main(string[] args) {
        Debug.Assert(Half(4) == 2);
    }
}
