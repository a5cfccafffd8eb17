try:
    answer = half(3)
except ZeroDivisionError:
    answer = None
assert answer == 1.5
