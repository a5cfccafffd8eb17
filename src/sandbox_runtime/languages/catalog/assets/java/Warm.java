import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.StringTokenizer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Has a bit of most things in it: what the compiler loads to compile this, it finds ready the next time. */
public class Warm {
    interface Shape { double area(); }

    record Circle(double radius) implements Shape {
        public double area() { return Math.PI * radius * radius; }
    }

    enum Colour { RED, GREEN }

    static abstract class Node<T extends Comparable<T>> implements Comparable<Node<T>> {
        protected final T value;
        Node(T value) { this.value = value; }
        @Override public int compareTo(Node<T> other) { return value.compareTo(other.value); }
    }

    static class Leaf extends Node<Integer> {
        Leaf(int value) { super(value); }
    }

    static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

    static String told(Colour colour) {
        switch (colour) {
            case RED: return "red";
            default: return "another";
        }
    }

    public static void main(String[] words) throws IOException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in));
        StringTokenizer tokens = new StringTokenizer(words.length > 0 ? reader.readLine() : "1 2 3");
        List<Integer> numbers = new ArrayList<>();
        while (tokens.hasMoreTokens()) numbers.add(Integer.parseInt(tokens.nextToken()));
        try (Scanner scanner = new Scanner("4 5")) {
            while (scanner.hasNextInt()) numbers.add(scanner.nextInt());
        } catch (RuntimeException error) {
            throw new IllegalStateException("no numbers", error);
        }
        Map<String, List<Integer>> byKind = new HashMap<>();
        for (int number : numbers) byKind.computeIfAbsent(number % 2 == 0 ? "even" : "odd", kind -> new ArrayList<>()).add(number);
        Function<Integer, Integer> square = x -> x * x;
        String joined = numbers.stream().map(square).filter(x -> x > 1).map(String::valueOf).collect(Collectors.joining(","));
        ArrayDeque<Node<Integer>> queue = new ArrayDeque<>();
        queue.add(new Leaf(1));
        Collections.sort(numbers, (a, b) -> b - a);
        int[][] grid = new int[3][4];
        long total = IntStream.range(0, grid.length).mapToLong(row -> grid[row].length).sum();
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, List<Integer>> entry : byKind.entrySet()) text.append(entry.getKey()).append(entry.getValue());
        Shape shape = new Circle(2.0);
        assert shape.area() > 0 : "a circle has an area";
        System.out.printf("%s %s %d %.2f%n", joined, text, total + fibonacci(5), shape.area());
        System.out.println(told(Colour.GREEN) + queue.size() + (shape instanceof Circle));
    }
}
