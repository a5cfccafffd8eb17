import atexit
import os
import sys

atexit.register(lambda: print("at exit", os.getpid() == parent))
parent = os.getpid()
sys.stdout.write("written twice; ")
pid = os.fork()
if pid == 0:
    sys.exit(4)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
pid = os.fork()
if pid == 0:
    raise ValueError("in a child")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
