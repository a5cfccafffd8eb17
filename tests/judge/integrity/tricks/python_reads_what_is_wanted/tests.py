WANTED = {3: 1.5, 5: 2.5}
for x, wanted in WANTED.items():
    assert half(x) == wanted
