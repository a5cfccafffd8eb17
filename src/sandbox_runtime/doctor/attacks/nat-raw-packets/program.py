import socket

import probe

probe.need_network()
kinds = [
    (socket.AF_PACKET, socket.SOCK_RAW, 0x0300),
    (socket.AF_PACKET, socket.SOCK_DGRAM, 0x0300),
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
    (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW),
    (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
]
for kind in kinds:
    probe.must_fail(f"a raw socket of the kind {kind}", socket.socket, *kind)
probe.held("no raw socket can be made")
