import ctypes

libc = ctypes.CDLL(None)
libc.printf(b"kept in the C library's buffer\n")
print("printed by Python")
