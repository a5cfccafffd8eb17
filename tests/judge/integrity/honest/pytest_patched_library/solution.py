import random
import subprocess


def rolled():
    return random.randint(1, 6)


def listed(folder):
    return subprocess.check_output(["ls", folder], text=True).split()
