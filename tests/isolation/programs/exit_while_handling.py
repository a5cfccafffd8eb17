import atexit

atexit.register(print, "last")
try:
    int("x")
except ValueError:
    raise SystemExit(4)  # noqa: B904
finally:
    print("finally")
