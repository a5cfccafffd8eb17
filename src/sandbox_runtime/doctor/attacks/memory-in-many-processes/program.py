import os
import select

import probe

CHILDREN = 8
share = probe.facts()["limits"]["memory_bytes"] // 4
gate, gate_in = os.pipe()
full, full_in = os.pipe()
for _ in range(CHILDREN):
    if os.fork() == 0:
        os.close(gate_in)
        piece = bytes([1]) * share
        os.write(full_in, piece[:1])
        os.read(gate, 1)
        os._exit(0)
filled = 0
while filled < CHILDREN:
    if select.select([full], [], [], 0.02)[0]:
        filled += len(os.read(full, CHILDREN))
    if os.waitpid(-1, os.WNOHANG)[0]:
        probe.held(f"{filled} of {CHILDREN} filled their share, then one was killed")
probe.escaped(f"{CHILDREN} times {share} bytes are in use")
