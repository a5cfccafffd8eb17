import ctypes
import mmap

import probe

area = mmap.mmap(-1, 1048576)
place = ctypes.addressof(ctypes.c_char.from_buffer(area))
result = probe.call("mlock", place, len(area))
probe.held(f"mlock: {probe.result_text(result)}") if result < 0 else probe.escaped("a mebibyte is locked")
