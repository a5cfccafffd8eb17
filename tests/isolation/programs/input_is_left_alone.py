#: {"stdin": "for the child\n"}
import subprocess

print(subprocess.run(["cat"], capture_output=True, text=True, check=True).stdout)
