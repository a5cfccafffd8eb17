class Program
{
    static void Main()
    {
        for (int i = 0; i < 50000; i++) Console.WriteLine(new string('x', 99));
    }
}
