(write-line "never"
