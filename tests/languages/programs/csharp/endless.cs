class Program
{
    static void Main()
    {
        while (true) { }
    }
}
