import ctypes

ctypes.CDLL("libcuda.so.1")
