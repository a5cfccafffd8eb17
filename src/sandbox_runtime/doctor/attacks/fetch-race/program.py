import contextlib
import os
import select

import probe

secret = probe.facts()["secret_file"]
probe.ready()
while not select.select([0], [], [], 0)[0]:
    with contextlib.suppress(OSError):
        with open("file", "w", encoding="ascii") as file:
            file.write("mine")
        os.mkdir("real")
    with contextlib.suppress(OSError):
        os.rename("file", "swapped")
        os.symlink(secret, "link")
        os.rename("link", "swapped")
    with contextlib.suppress(OSError):
        os.rename("real", "folder")
        os.rename("folder", "real")
        os.symlink(os.path.dirname(secret), "folder")
        os.unlink("folder")
probe.held("the race is over")
