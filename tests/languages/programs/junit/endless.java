import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

public class ProgramTest {
    @Test
    void works() throws Exception {
        while (true) {}
    }
}
