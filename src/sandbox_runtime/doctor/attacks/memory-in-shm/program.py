import mmap
import os

import probe

size = 2 * probe.facts()["limits"]["memory_bytes"]
file = os.open("/dev/shm/big", os.O_RDWR | os.O_CREAT)
os.ftruncate(file, size)
area = mmap.mmap(file, size)
for place in range(0, size, mmap.PAGESIZE):
    area[place] = 1
probe.escaped(f"{size} bytes of shared memory are in use")
