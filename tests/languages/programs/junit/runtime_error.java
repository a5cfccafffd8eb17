import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

public class ProgramTest {
    @Test
    void works() throws Exception {
        assertEquals(3, 1 + 1);
    }
}
