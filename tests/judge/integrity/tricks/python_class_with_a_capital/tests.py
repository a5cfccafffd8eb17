assert Half(3) == 1.5
