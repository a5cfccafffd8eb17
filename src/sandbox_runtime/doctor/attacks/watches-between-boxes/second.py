import os

import probe

for path in ("/usr/bin/env", "/etc/passwd"):
    os.read(os.open(path, os.O_RDONLY), 1)
os.listdir("/usr/share")
probe.held("files were opened")
