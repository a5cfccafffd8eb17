import contextlib
import os
import select

import probe

secret = probe.facts()["secret_file"]
outside = os.path.dirname(secret)
for name in ("real", "real/deep"):
    os.makedirs(name, exist_ok=True)
for name in ("real/secret", "real/deep/secret", "mine"):
    with open(name, "w", encoding="ascii") as file:
        file.write("mine")
probe.ready()
while not select.select([0], [], [], 0)[0]:
    with contextlib.suppress(OSError):
        os.makedirs("real/deep", exist_ok=True)
        os.rename("real", "folder")
    with contextlib.suppress(OSError):
        os.rename("folder", "real")
    with contextlib.suppress(OSError):
        os.symlink(outside, "folder")
    with contextlib.suppress(OSError):
        os.unlink("folder")
    with contextlib.suppress(OSError):
        os.symlink(secret, "link")
        os.rename("link", "swapped")
    with contextlib.suppress(OSError):
        os.link("mine", "honest")
        os.rename("honest", "swapped")
probe.held("the race is over")
