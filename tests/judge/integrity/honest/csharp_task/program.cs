using System;
using System.Threading.Tasks;

class Problem {
    public static async Task<int> Half(int x) { await Task.Delay(1); return x / 2; }

    public static async Task Main(string[] args) {
        if (await Half(4) != 2) throw new Exception("wrong");
    }
}
