import os

import probe

number = probe.facts()["calls"]["keyctl"]
for _ in range(7):
    if os.fork() == 0:
        break
while True:
    probe.call_number(number, 0, 0, 0, 0, 0)
