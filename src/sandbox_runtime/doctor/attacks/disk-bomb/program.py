import os

import probe

most = 3 * probe.facts()["disk_bytes"]
everywhere = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/mnt", os.environ["HOME"], ".")
folders = [folder for folder in everywhere if os.access(folder, os.W_OK)]
written = 0
try:
    while written < most:
        for folder in folders:
            with open(f"{folder}/big", "ab") as file:
                written += file.write(bytes(131072))
except OSError as error:
    probe.held(f"{written} bytes, then {error.strerror}")
probe.escaped(f"{written} bytes written")
