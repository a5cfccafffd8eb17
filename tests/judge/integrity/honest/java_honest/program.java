import java.util.*;
class Main {
    public static int half(int x) { return x / 2; }

    public static void main(String[] args) {
        assert(half(4) == 2);
    }
}
