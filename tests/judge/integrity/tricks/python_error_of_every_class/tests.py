try:
    root(-1)
except ValueError:
    pass
