import os
import subprocess

file = open("out.txt", "w")  # noqa: SIM115
file.write("never closed")
raw = os.fdopen(os.dup(1), "w")
raw.write("through a second stream\n")
shadow = subprocess.Popen(["sh", "-c", "sleep 0.2; cat out.txt"], stdin=subprocess.DEVNULL)
if os.fork() == 0:
    print("child ends")
    os._exit(0)
print("main ends")
