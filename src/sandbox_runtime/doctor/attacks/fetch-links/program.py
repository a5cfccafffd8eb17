import os

import probe

secret = probe.facts()["secret_file"]
with open("honest", "w", encoding="ascii") as file:
    file.write("fetched")
os.symlink(secret, "absolute")
os.symlink("../" * 20 + secret.lstrip("/"), "relative")
os.symlink(os.path.dirname(secret), "folder")
os.symlink("/proc/self/environ", "environ")
os.symlink("/etc/shadow", "shadow")
os.symlink("/proc/self/root", "root")
os.symlink("/proc/self/fd/3", "descriptor")
os.symlink("loop", "loop")
probe.held("links are laid")
