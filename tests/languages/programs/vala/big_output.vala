int main () {
    var line = string.nfill (99, 'x');
    for (int row = 0; row < 50000; row++) stdout.printf ("%s\n", line);
    return 0;
}
