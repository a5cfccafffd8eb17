class Main {
    static { System.exit(0); }

    public static int half(int x) { return 0; }

    public static void main(String[] args) {
        assert(half(4) == 2);
    }
}
