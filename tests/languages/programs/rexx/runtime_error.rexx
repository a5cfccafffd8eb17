say 1 / 0
