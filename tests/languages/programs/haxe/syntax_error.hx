class Main { static function main() { Sys.println("never" } }
