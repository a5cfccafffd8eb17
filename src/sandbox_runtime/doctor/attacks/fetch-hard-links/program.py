import contextlib
import os

import probe

with open("honest", "w", encoding="ascii") as file:
    file.write("fetched")
for source, name in (("/etc/passwd", "passwd"), ("/proc/self/environ", "environ"), ("/usr/bin/env", "program")):
    with contextlib.suppress(OSError):
        os.link(source, name)
        probe.escaped(f"{source} has another name now")
probe.held("links are laid")
