wanted = 1.5
for _ in range(5000):
    wanted = [wanted]
assert half(3) == wanted
