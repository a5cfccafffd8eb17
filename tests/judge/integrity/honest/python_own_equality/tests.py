assert Money(5) == 5
assert Money(5) == Money(5)
assert Money(7) - 2 == 5
assert Money(1) < 2
assert Money(5) != 6
assert Money(5) in [4, 5]
