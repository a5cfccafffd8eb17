import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

public class ProgramTest {
    @Test
    void works() throws Exception {
        for (int i = 0; i < 50000; i++) System.out.println("x".repeat(99));
    }
}
