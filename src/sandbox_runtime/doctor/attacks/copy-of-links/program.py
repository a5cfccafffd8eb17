import os

import probe

secret = probe.facts()["secret_file"]
os.symlink(secret, "file")
os.symlink(os.path.dirname(secret), "folder")
probe.held("links are laid")
