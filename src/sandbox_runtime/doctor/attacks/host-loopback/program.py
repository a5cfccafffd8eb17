import socket

import probe

port = probe.facts()["port"]
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::ffff:127.0.0.1")):
    try:
        socket.socket(family).connect((address, port))
    except OSError:
        continue
    probe.escaped(f"{address} port {port} of the host answered")
probe.held("nobody answers")
