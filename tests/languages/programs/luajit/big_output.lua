for _ = 1, 50000 do print(string.rep("x", 99)) end
