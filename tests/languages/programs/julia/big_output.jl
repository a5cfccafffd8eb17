for _ in 1:50000
    println("x"^99)
end
