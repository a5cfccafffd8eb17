import os

import probe

found = probe.facts()
os.symlink(found["secret_file"], "/tmp/secret")
os.symlink(found["secret_file"], "/dev/shm/secret")
os.symlink(found["folder"], "/tmp/folder")
probe.held("links are laid")
