import os

import probe

outside = probe.facts()["secret_file"].lstrip("/")
up = "../" * 60
for start in (".", "/", "/tmp", "/proc", "/dev/pts", "/proc/self/cwd", "/proc/self/root", "/dev/fd", "/usr"):
    if os.path.exists(os.path.join(start, up, outside)):
        probe.escaped(f"the host is above {start}")
if not os.path.samestat(os.stat("/"), os.stat("/" + up)):
    probe.escaped("the root has something above it")
probe.held("the root is the top")
