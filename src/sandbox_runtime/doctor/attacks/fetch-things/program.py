import contextlib
import os
import socket
import stat

import probe

with open("honest", "w", encoding="ascii") as file:
    file.write("fetched")
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
os.mkdir("folder")
with contextlib.suppress(OSError):
    os.mknod("device", stat.S_IFCHR | 0o666, os.makedev(1, 5))
probe.held("things are laid")
