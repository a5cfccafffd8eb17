import java.nio.file.Files;
import java.nio.file.Path;
import org.javatuples.Pair;

public class Main {
    public static void main(String[] words) throws Exception {
        Pair<Path, Path> both = Pair.with(Path.of("input.txt"), Path.of("output.txt"));
        Files.copy(both.getValue0(), both.getValue1());
    }
}
