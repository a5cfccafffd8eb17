import __main__

assert __main__.half(3) == 1.5
