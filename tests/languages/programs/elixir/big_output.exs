line = String.duplicate("x", 99)
Enum.each(1..50_000, fn _ -> IO.puts(line) end)
