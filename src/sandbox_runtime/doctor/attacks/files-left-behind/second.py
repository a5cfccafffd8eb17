import os

import probe

for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/mnt", os.environ["HOME"], os.getcwd()):
    if os.path.exists(f"{folder}/left-behind"):
        probe.escaped(f"{folder} holds what an earlier box left")
probe.held("every folder is fresh")
