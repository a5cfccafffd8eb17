import os

import probe

for name in ("file", "folder", "root", "self"):
    if not os.path.islink(name):
        probe.escaped(f"{name} is no link any more")
probe.held("links came back as links")
