IO.puts("never"
