import sys

main = sys.modules["__main__"]
print(sorted(globals()))
print(__name__, __file__, __doc__, __package__, __spec__, __annotations__)
print(type(__loader__), __loader__.name, __loader__.path, globals().get("__cached__", "absent"))
print(type(__builtins__), main.__dict__ is globals(), repr(main), main.__dict__["__file__"])
