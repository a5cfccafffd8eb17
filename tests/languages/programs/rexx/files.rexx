do while lines("input.txt") > 0
  call lineout "output.txt", linein("input.txt")
end
