class Program
{
    static void Main() => File.Copy("input.txt", "output.txt");
}
