def order(items):
    print("x" * 1000000)
    return sorted(items)


for _ in range(20):
    order([1])
