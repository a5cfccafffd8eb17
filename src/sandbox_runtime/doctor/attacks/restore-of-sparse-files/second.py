import os

import probe

for number in range(4):
    with open(f"sparse{number}", "rb") as file:
        if os.pread(file.fileno(), 4, 16 << 20) != b"data" or os.fstat(file.fileno()).st_size != 32 << 20:
            probe.escaped("what was restored is not what was saved")
probe.held("holes came back as holes")
