import os

import probe

secret = f"canary-{probe.facts()['token']}".encode()
others = [pid for pid in probe.processes() if pid != os.getpid()]
for pid in others:
    for name in ("environ", "maps", "mem", "auxv"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                seen = file.read(4096)
        except OSError:
            continue
        probe.escaped(f"/proc/{pid}/{name} can be read" + (" and holds the secret" if secret in seen else ""))
    probe.must_fail(f"descriptors of {pid} can be listed", os.listdir, f"/proc/{pid}/fd")
probe.held(f"{len(others)} in sight, none can be looked into")
