import probe

for name in ("keys", "key-users"):
    try:
        with open(f"/proc/{name}", "rb") as table:
            rows = table.read()
    except OSError:
        continue
    if rows:
        probe.escaped(f"/proc/{name} has {len(rows)} bytes")
probe.held("nothing is listed")
