(display "never"
