local input = assert(io.open("input.txt"))
local output = assert(io.open("output.txt", "w"))
output:write(input:read("*a"))
output:close()
