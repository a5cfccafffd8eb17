import socket

import probe

RAW, PACKET = socket.SOCK_RAW, 10
for family, kind, protocol in (
    (socket.AF_INET, RAW, socket.IPPROTO_ICMP),
    (socket.AF_INET, RAW, socket.IPPROTO_RAW),
    (socket.AF_INET6, RAW, socket.IPPROTO_ICMPV6),
    (socket.AF_PACKET, RAW, 0x0300),
    (socket.AF_PACKET, socket.SOCK_DGRAM, 0x0300),
    (socket.AF_INET, PACKET, 0x0300),
):
    probe.must_fail(f"socket {family!r} {kind} {protocol}", socket.socket, family, kind, protocol)
probe.held("none can be opened")
