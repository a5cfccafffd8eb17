assert depth(9000) == 9000
