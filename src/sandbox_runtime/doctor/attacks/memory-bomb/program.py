import probe

most = 2 * probe.facts()["limits"]["memory_bytes"]
pieces = [bytes([1]) * 1048576 for _ in range(most // 1048576)]
probe.escaped(f"{len(pieces)} MiB are in use")
