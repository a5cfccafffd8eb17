object Main { def main(args: Array[String]): Unit = for (_ <- 1 to 50000) println("x" * 99) }
