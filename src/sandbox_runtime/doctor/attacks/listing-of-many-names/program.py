import os

import probe

os.mkdir("many")
for number in range(6000):
    os.close(os.open(f"many/{number}", os.O_CREAT | os.O_WRONLY))
probe.held("the names are there")
