public class Main {
    public static void main(String[] words) {
        for (int i = 0; i < 50000; i++) System.out.println("x".repeat(99));
    }
}
