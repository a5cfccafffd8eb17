using System.Diagnostics;

class Program
{
    static void Main() => Debug.Assert(1 + 1 == 3, "boom");
}
