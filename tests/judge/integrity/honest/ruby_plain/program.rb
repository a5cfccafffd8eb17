def half(x)
  x / 2
end

raise "wrong" unless half(4) == 2
puts "done"
at_exit { puts "over" }
