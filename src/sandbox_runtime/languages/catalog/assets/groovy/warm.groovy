class Point {
    int x, y

    double distance() { Math.sqrt(x * x + y * y) }
}

def points = (1..3).collect { new Point(x: it, y: it + 1) }
def far = points.findAll { it.distance() > 2 }.groupBy { it.x % 2 }
assert far.values().flatten().sum { it.y } > 0
System.in.eachLine { line -> println "${line.trim()} ${far.size()}" }
