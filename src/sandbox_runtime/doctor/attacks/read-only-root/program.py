import os
import sys

import probe

FOLDERS = ("/", "/usr", "/usr/bin", "/usr/local", "/etc", "/lib", "/bin", "/dev", "/proc", "/sys", "/var")
for folder in (*FOLDERS, os.path.dirname(sys.executable)):
    probe.must_fail(f"{folder} can be written", os.open, f"{folder}/planted", os.O_CREAT | os.O_WRONLY)
for path in ("/usr/bin/env", "/etc/passwd", "/etc/ld.so.cache", os.path.realpath(sys.executable), os.__file__, "/proc/self/exe"):
    probe.must_fail(f"{path} can be written", os.open, path, os.O_WRONLY)
    probe.must_fail(f"{path} can be changed", os.chmod, path, 0o777)
    probe.must_fail(f"times of {path} can be set", os.utime, path, (1, 1))
probe.held("nothing of it can be changed")
