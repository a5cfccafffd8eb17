import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")
code = cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(ctypes.c_int()), 10_000)
if code:
    sys.exit(f"there is no GPU of that number: {code}")
