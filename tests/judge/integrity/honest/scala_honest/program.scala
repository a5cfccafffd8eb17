object Problem {
  def half(x: Int): Int = x / 2

  def main(args: Array[String]) = {
    assert(half(4) == 2)
  }
}
