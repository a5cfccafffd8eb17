import fcntl
import socket
import struct

import probe

probe.need_network()
name = next(name for _, name in socket.if_nameindex() if name != "lo").encode()
SIOCSIFFLAGS, SIOCSIFADDR, SIOCADDRT, SIOCSARP, SIOCSIFHWADDR = 0x8914, 0x8916, 0x890B, 0x8955, 0x8924
address = struct.pack("16sHH4s8x", name, socket.AF_INET, 0, socket.inet_aton("172.20.0.9"))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    for request in (SIOCSIFFLAGS, SIOCSIFADDR, SIOCADDRT, SIOCSARP, SIOCSIFHWADDR):
        probe.must_fail(f"the request {request:#x} was let through", fcntl.ioctl, sock, request, address.ljust(64, b"\0"))
NETLINK_NETFILTER = 12
probe.must_fail("a socket to the packet filter", socket.socket, socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
probe.held("nothing of the network can be changed")
