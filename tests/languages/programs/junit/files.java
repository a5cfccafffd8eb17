import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;
import java.nio.file.Files;
import java.nio.file.Path;

public class ProgramTest {
    @Test
    void works() throws Exception {
        Files.copy(Path.of("input.txt"), Path.of("output.txt"));
    }
}
