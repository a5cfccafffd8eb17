fun half(x: Int): Int = x / 2

check(half(4) == 2)
println("done")
