int main () {
    while (true) {}
}
