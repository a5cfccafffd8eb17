#: {"argv": ["--flag", "value"]}
import os
import subprocess

shown = subprocess.run(["cat", f"/proc/{os.getpid()}/cmdline"], capture_output=True, check=True).stdout
print(shown.rstrip(b"\0"))
