import ctypes

import probe

EAGAIN = 11
context = ctypes.c_ulong(0)
result = probe.call("io_setup", 32, ctypes.addressof(context))
probe.escaped("another box has taken them all") if result == -EAGAIN else probe.held(f"io_setup: {probe.result_text(result)}")
