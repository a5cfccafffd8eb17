import scala.collection.mutable
import scala.util.Try

case class Point(x: Int, y: Int)

trait Shape { def area: Double }

class Square(side: Double) extends Shape { def area: Double = side * side }

object Warm {
  def twice[A](value: A)(implicit number: Numeric[A]): A = number.plus(value, value)

  def main(args: Array[String]): Unit = {
    val seen = mutable.Map[Int, List[Point]]().withDefaultValue(Nil)
    for (x <- 1 to 3; y <- 1 to 3 if x != y) seen(x) = Point(x, y) :: seen(x)
    val sizes = seen.toSeq.sortBy(_._1).map { case (x, points) => x -> points.size }
    val text = io.Source.stdin.getLines().map(_.trim.split(" ").flatMap(word => Try(word.toInt).toOption).sum).mkString(",")
    assert(sizes.nonEmpty && new Square(2).area == twice(2.0))
    println(s"$text ${sizes.headOption.getOrElse((0, 0))}")
  }
}
