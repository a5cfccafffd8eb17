assert 3 in divisors(6)
