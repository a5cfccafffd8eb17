(let ((line (make-string 99 :initial-element #\x)))
  (dotimes (row 50000) (write-line line)))
