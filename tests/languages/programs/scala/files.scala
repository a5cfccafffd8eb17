import java.nio.file.{Files, Paths}

object Main { def main(args: Array[String]): Unit = Files.copy(Paths.get("input.txt"), Paths.get("output.txt")) }
