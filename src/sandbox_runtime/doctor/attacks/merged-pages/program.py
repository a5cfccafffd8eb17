import ctypes
import mmap

import probe

MERGEABLE, SET_MEMORY_MERGE = 12, 67
area = mmap.mmap(-1, mmap.PAGESIZE)
place = ctypes.addressof(ctypes.c_char.from_buffer(area))
if probe.call("madvise", place, mmap.PAGESIZE, MERGEABLE) >= 0 or probe.call("prctl", SET_MEMORY_MERGE, 1, 0, 0, 0) >= 0:
    probe.escaped("pages may be merged with those of others")
probe.held("pages stay its own")
