import ctypes

ctypes.pythonapi.Py_FatalError(b"no way on")
