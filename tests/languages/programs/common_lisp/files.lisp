(with-open-file (from "input.txt")
  (with-open-file (to "output.txt" :direction :output)
    (loop for line = (read-line from nil) while line do (write-line line to))))
