import contextlib
import os
import select
import shutil

import probe

outside = probe.facts()["folder"]
probe.ready()
while not select.select([0], [], [], 0)[0]:
    with contextlib.suppress(OSError):
        os.mkdir("real")
        os.symlink(outside, "link")
    with contextlib.suppress(OSError):
        os.rename("real", "folder")
    with contextlib.suppress(OSError):
        shutil.rmtree("folder", ignore_errors=True)
        os.rename("link", "folder")
    with contextlib.suppress(OSError):
        os.unlink("folder")
probe.held("the race is over")
