import os

import probe

for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
probe.held("what is left of it is for the host to see")
