import static org.junit.jupiter.api.Assertions.assertEquals;
import org.junit.jupiter.api.Test;

public class HalfTest {
    static int half(int x) { return x / 2; }

    @Test
    void halves() {
        assertEquals(2, half(4));
    }
}
