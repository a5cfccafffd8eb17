def half(x):
    raise StopIteration
