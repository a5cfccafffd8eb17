val line = CharVector.tabulate (99, fn _ => #"x") ^ "\n";
fun rows 0 = () | rows number = (TextIO.print line; rows (number - 1));
rows 50000;
