def half(x):
    raise KeyboardInterrupt
