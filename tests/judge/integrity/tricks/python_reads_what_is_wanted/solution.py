def half(x):
    return globals()["WANTED"][x]
