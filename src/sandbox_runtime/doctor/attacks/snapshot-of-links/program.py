import os

import probe

secret = probe.facts()["secret_file"]
os.symlink(secret, "file")
os.symlink(os.path.dirname(secret), "folder")
os.symlink("/", "root")
os.symlink("self", "self")
probe.held("links are laid")
