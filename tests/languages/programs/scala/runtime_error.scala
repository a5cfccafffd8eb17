object Main { def main(args: Array[String]): Unit = sys.error("boom") }
