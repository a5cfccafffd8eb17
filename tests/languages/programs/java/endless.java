public class Main {
    public static void main(String[] words) {
        while (true) {}
    }
}
