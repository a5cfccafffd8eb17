import contextlib
import socket

import probe

known = probe.facts()
probe.need_network()
kinds = [(socket.SOCK_STREAM, 132), (socket.SOCK_DGRAM, 136), (socket.SOCK_DGRAM, socket.IPPROTO_ICMP), (6, 33)]
for address in (known["host"][0], known["metadata"][0], known["private"][0]):
    for kind, protocol in kinds:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, kind, protocol) as sock:
            sock.settimeout(0.1)
            sock.connect((address, known["dns_port"]))
            sock.send(b"\x08\0\0\0\0\0\0\0" + bytes(8))
            probe.escaped(f"{address} answered by protocol {protocol}: {sock.recv(100)!r}")
probe.held("no other protocol gets through")
