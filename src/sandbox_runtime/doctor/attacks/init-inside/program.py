import os

import probe

for name in ("mem", "environ", "maps", "smaps", "auxv", "pagemap", "syscall", "stack", "clear_refs", "io", "timers"):
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            file = os.open(f"/proc/1/{name}", flags)
            if flags == os.O_RDONLY:
                os.read(file, 1)
        except OSError:
            continue
        probe.escaped(f"/proc/1/{name} can be opened")
for name in ("root", "cwd", "exe", "fd/0", "ns/net", "ns/mnt", "ns/user"):
    probe.must_fail(f"/proc/1/{name} can be opened", os.open, f"/proc/1/{name}", os.O_RDONLY)
probe.must_fail("descriptors of init can be listed", os.listdir, "/proc/1/fd")
probe.held("init is closed to the program")
