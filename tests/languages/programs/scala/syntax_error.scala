object Main { def main(args: Array[String]): Unit = { val number: Int = } }
