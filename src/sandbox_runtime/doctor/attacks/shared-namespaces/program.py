import os

import probe

theirs = probe.facts()["namespaces"]
shared = [name for name, value in theirs.items() if os.readlink(f"/proc/self/ns/{name}") == value]
probe.escaped(f"shares with the host: {' '.join(shared)}") if shared else probe.held("all of them are its own")
