import os

import probe

for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/mnt", os.environ["HOME"], os.getcwd()):
    if os.path.exists(f"{folder}/meeting-place"):
        probe.escaped(f"{folder} is shared")
probe.held("no folder is shared")
