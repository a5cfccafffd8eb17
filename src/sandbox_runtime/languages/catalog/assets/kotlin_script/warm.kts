import kotlin.math.sqrt

data class Point(val x: Int, val y: Int)

fun distance(point: Point): Double = sqrt((point.x * point.x + point.y * point.y).toDouble())

val points = (1..3).map { Point(it, it + 1) }.associateBy { it.x }
check(points.values.sumOf { distance(it) } > 0)
points.toList().groupBy { (_, point) -> point.y % 2 }.forEach { (rest, members) -> check(rest in 0..1 && members.isNotEmpty()) }
generateSequence(::readLine).map { "${it.trim()}" }.filter { it.isNotEmpty() }.forEach { println(it) }
