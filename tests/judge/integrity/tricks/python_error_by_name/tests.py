try:
    root(-1)
except ValueError:
    pass
else:
    raise AssertionError("nothing was raised")
