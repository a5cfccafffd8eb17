import os

import probe

for number in range(4):
    with open(f"sparse{number}", "wb") as file:
        file.truncate(32 << 20)
        os.pwrite(file.fileno(), b"data", 16 << 20)
probe.held("sparse files are laid")
