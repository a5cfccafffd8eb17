import gc
import io
import os
import socket
import sys

import probe

own = {0, 1, 2}
for thing in gc.get_objects():
    if isinstance(thing, (socket.socket, io.FileIO)):
        try:
            number = thing.fileno()
            os.fstat(number)
        except (OSError, ValueError):
            continue
        if number not in own:
            probe.escaped(f"{thing!r} is open")
ours = [name for name in sys.modules if name.partition(".")[0] == "sandbox_runtime"]
probe.escaped(f"modules {ours}") if ours else probe.held("nothing that leads out")
