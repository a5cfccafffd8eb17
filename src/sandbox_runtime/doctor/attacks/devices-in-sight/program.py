import os
import stat

import probe

HARMLESS = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2)}
for folder, _, names in os.walk("/dev"):
    for name in names:
        seen = os.lstat(os.path.join(folder, name))
        number = (os.major(seen.st_rdev), os.minor(seen.st_rdev))
        if stat.S_ISBLK(seen.st_mode) or (stat.S_ISCHR(seen.st_mode) and number not in HARMLESS):
            probe.escaped(f"{folder}/{name} is device {number}")
probe.held("null, zero, full, random, urandom and terminals")
