import socket

import probe

for family, address in ((socket.AF_INET, "169.254.169.254"), (socket.AF_INET6, "fd00:ec2::254")):
    try:
        sock = socket.socket(family)
        sock.settimeout(0.3)
        sock.connect((address, 80))
    except OSError:
        continue
    probe.escaped(f"{address} answered")
probe.held("nobody answers")
