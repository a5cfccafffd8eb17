50_000.times { puts "x" * 99 }
