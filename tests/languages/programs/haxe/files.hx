class Main { static function main() { sys.io.File.copy("input.txt", "output.txt"); } }
