public class Main {
