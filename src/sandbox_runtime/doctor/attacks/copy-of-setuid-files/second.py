import os

import probe

for name in ("tool", "folder"):
    if os.stat(name).st_mode & 0o6000:
        probe.escaped(f"{name} came back with a setuid or setgid bit")
probe.held("no setuid bit came back")
