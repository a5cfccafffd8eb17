#: {"env": {"GIVEN": "by the caller", "EMPTY": ""}}
import os
import subprocess
import sys

os.environ["ADDED"] = "in the program"
del os.environ["EMPTY"]
print(subprocess.run(["env"], capture_output=True, text=True, check=True).stdout)
os.putenv("PUT", "past os.environ")
print(sorted(subprocess.run(["env"], capture_output=True, text=True, check=True).stdout.splitlines()))
sys.stdout.flush()
os.system("echo from the shell; echo $GIVEN $ADDED $PUT; readlink /proc/$PPID/cwd; exit 3")
