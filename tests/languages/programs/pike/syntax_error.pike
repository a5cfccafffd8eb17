int main() { write("never"; }
