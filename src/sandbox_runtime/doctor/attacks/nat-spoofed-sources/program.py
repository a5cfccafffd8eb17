import socket

import probe

known = probe.facts()
probe.need_network()
IP_FREEBIND, IP_TRANSPARENT = 15, 19
for source in (*known["host"][:2], known["gateway"], "192.31.196.200"):
    for option in (IP_FREEBIND, IP_TRANSPARENT, 0):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(0.1)
            try:
                if option:
                    sock.setsockopt(socket.IPPROTO_IP, option, 1)
                sock.bind((source, 0))
                sock.sendto(b"?", (known["public"][0], known["dns_port"]))
                answer = sock.recv(100)
            except OSError:
                continue
        probe.escaped(f"a packet from {source} was answered: {answer!r}")
probe.held("no packet went out under another address")
