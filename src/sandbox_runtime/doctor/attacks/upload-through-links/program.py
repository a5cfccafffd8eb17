import os

import probe

found = probe.facts()
os.symlink(found["folder"], "folder")
os.mkdir("deep")
os.symlink("../" * 20 + found["folder"].lstrip("/"), "deep/er")
os.symlink("/proc/self/cwd", "cwd")
os.symlink("/proc/1/root", "root")
os.symlink(found["secret_file"], "secret")
os.symlink(found["folder"] + "/planted", "dangling")
probe.held("links are laid")
