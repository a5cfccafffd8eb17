public class Main {
    public static void main(String[] words) {
        assert words.length > 0 : "boom";
    }
}
