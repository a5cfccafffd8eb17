public class ProgramTest {
