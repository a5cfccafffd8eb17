import os

import probe

file = os.open("/tmp/sparse", os.O_CREAT | os.O_WRONLY)
size = 16 * probe.facts()["limits"]["file_bytes"]
probe.held(probe.must_fail(f"a file of {size} bytes", os.ftruncate, file, size))
