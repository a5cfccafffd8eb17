assert remember(1) == [1]
assert remember(2) == [1, 2]
assert calls == 2 and seen == {1: 1, 2: 2}
assert fibonacci(80) == 23416728348467685
assert fibonacci.cache_info().misses == 81
fibonacci.cache_clear()
assert fibonacci.cache_info().currsize == 0
assert slow(1) is slow(1)
assert remember.times == 0
