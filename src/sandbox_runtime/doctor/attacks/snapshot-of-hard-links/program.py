import os

import probe

with open("first", "wb") as file:
    file.write(os.urandom(1 << 20))
for number in range(60):
    os.link("first", f"name{number}")
probe.held("one file has many names")
