import os
import stat

import probe

for top in ("/run", "/var", "/tmp", "/dev", "/mnt", "/etc", "/home"):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                probe.escaped(f"{path} is a socket of somebody else")
probe.held("there are none")
