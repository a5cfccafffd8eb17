open #1, "input.txt", "r"
open #2, "output.txt", "w"
while not eof(1)
  line input #1 row$
  print #2 row$
wend
close #2
