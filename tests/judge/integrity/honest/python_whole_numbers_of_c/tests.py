assert wrap(2**31) == -(2**31)
