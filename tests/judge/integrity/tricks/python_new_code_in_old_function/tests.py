import statistics

assert statistics.mean(spread(3)) == 2
