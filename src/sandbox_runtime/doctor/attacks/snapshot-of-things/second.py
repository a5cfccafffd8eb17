import os
import stat

import probe

for name in os.listdir("."):
    kind = stat.S_IFMT(os.lstat(name).st_mode)
    if kind in (stat.S_IFCHR, stat.S_IFBLK):
        probe.escaped(f"{name} came back as a device")
with open("honest", encoding="ascii") as file:
    if file.read() != "mine":
        probe.escaped("the file is not what was kept")
probe.held("no device came back, and the file is whole")
