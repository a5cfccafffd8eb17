import contextlib
import os

import probe

for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/mnt", os.environ["HOME"], os.getcwd()):
    with contextlib.suppress(OSError), open(f"{folder}/left-behind", "w", encoding="ascii") as file:
        file.write("for you")
probe.ready()
