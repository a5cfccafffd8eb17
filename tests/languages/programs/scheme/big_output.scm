(define line (make-string 99 #\x))
(do ((row 0 (+ row 1))) ((= row 50000)) (display line) (newline))
