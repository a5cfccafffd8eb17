trait Halving {
  def half(x: Int): Int = x / 2
}

object Problem extends Halving with App {
  assert(half(args.length + 4) == 2)
}
