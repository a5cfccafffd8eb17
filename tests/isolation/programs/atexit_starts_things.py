import atexit
import subprocess


def at_exit():
    subprocess.run(["echo", "child at exit"], check=True)
    with open("left.txt") as file:
        print(file.read(), end="")


with open("left.txt", "w") as file:
    file.write("read at exit")
print("main", flush=True)
atexit.register(at_exit)
