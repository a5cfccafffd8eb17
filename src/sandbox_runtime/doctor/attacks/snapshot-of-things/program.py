import contextlib
import os
import socket
import stat

import probe

os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
for kind, name in ((stat.S_IFCHR, "character"), (stat.S_IFBLK, "block")):
    with contextlib.suppress(OSError):
        os.mknod(name, kind | 0o666, os.makedev(1, 5))
with open("honest", "w", encoding="ascii") as file:
    file.write("mine")
probe.held("things are laid")
