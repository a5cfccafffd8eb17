import contextlib
import socket

import probe

known = probe.facts()
probe.need_network()
for index, name in socket.if_nameindex():
    if name == "lo":
        continue
    for address in ("fe80::1", "fe80::2", "ff02::1", "ff02::2", "ff02::fb"):
        for port in (known["port"], known["dns_port"]):
            with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sock:
                sock.settimeout(0.1)
                with contextlib.suppress(OSError):
                    sock.sendto(b"?", (address, port, 0, index))
                    probe.escaped(f"{address} on {name} answered: {sock.recv(100)!r}")
probe.held("no link-local address answers")
