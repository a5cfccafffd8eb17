import contextlib
import socket

import probe

known = probe.facts()
probe.need_network()
for address in ("255.255.255.255", "172.20.0.255", "10.50.0.255", "224.0.0.1", "224.0.0.251", "239.255.255.250"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        with contextlib.suppress(OSError):
            sock.sendto(b"?", (address, known["dns_port"]))
            probe.escaped(f"{address} answered: {sock.recv(100)!r}")
probe.held("no broadcast is answered")
