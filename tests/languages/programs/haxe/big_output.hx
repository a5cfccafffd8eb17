class Main {
  static function main() {
    var line = StringTools.rpad("", "x", 99);
    for (row in 0...50000) Sys.println(line);
  }
}
