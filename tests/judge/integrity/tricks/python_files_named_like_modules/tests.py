import statistics

assert statistics.mean([half(3)]) == 1.5
