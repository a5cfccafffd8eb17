import socket
import struct

import probe

known = probe.facts()
probe.need_network()
via, private = known["public"][0], known["metadata"][0]
for kind in (131, 137):
    options = struct.pack("BBB", kind, 7, 4) + socket.inet_aton(private) + b"\0"
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.settimeout(0.5)
        try:
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, options)
            sock.connect((via, known["port"]))
            peer = sock.recv(100)
        except OSError:
            continue
    probe.escaped(f"a source route by {via} to {private} was answered: {peer!r}")
probe.held("no source route is taken")
