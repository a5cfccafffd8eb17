def check(candidate):
    wanted = {3: 1.5}
    asked = []

    def half(x):
        asked.append(x)
        return x / 2 if wanted else None

    assert candidate(half, 3) == wanted[3]
    assert asked == [3]


check(apply)
