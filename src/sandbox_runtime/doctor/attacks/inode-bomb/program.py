import os

import probe

most = 2 * probe.facts()["disk_files"]
for count in range(most):
    try:
        os.close(os.open(f"/tmp/{count}", os.O_CREAT | os.O_WRONLY))
    except OSError as error:
        probe.held(f"{count} files, then {error.strerror}")
probe.escaped(f"{most} files")
