import os

import probe

# The last three are what the warm interpreter was started with.
OURS = {"PATH", "HOME", "LANG", "TMPDIR", "LC_CTYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"}
with open("/proc/self/environ", "rb") as file:
    started_with = {entry.partition(b"=")[0].decode() for entry in file.read().split(b"\0") if entry.strip()}
foreign = (set(os.environ) | started_with) - OURS
probe.escaped(f"variables of the server: {' '.join(sorted(foreign))}") if foreign else probe.held("nothing but its own")
