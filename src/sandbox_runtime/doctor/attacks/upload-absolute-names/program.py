import os

import probe

found = probe.facts()
os.symlink(found["secret_file"], "/tmp/proof-link")
os.symlink(found["secret_file"], "/dev/shm/proof-link")
os.symlink(found["folder"], "/tmp/proof-folder")
probe.held("links are laid")
