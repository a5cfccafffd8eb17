import os
import select

import probe

growing = os.open("growing", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
sparse = os.open("sparse", os.O_CREAT | os.O_WRONLY)
os.ftruncate(sparse, 200 << 20)
probe.ready()
size = 0
while not select.select([0], [], [], 0)[0]:
    size += os.write(growing, bytes(65536))
    if size > 8 << 20:
        os.ftruncate(growing, 0)
        size = 0
probe.held("the race is over")
