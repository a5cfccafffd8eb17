import os
import socket

import probe

os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
os.mkdir("folder")
with open("other", "w", encoding="ascii") as file:
    file.write("not to be changed")
os.link("other", "hard")
probe.held("things are laid")
