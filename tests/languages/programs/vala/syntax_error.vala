int main () { stdout.printf ("never" }
