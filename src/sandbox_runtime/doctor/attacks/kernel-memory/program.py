import os

import probe

PLACES = ("/proc/kcore", "/proc/kmsg", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/proc/kpageflags", "/proc/vmallocinfo")
for path in PLACES:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.read(file, 1)
    except OSError:
        continue
    probe.escaped(f"{path} can be read")
with open("/proc/kallsyms", "rb") as table:
    if any(int(line.split()[0], 16) for line in table.read(65536).splitlines()[:-1]):
        probe.escaped("addresses of the kernel are known")
probe.held("closed")
