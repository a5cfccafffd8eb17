object Problem extends App {
  def half(x: Int): Int = x / 2

  println("halving")
  assert(half(4) == 2)
}
