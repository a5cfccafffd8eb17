"""Network namespaces: bring up loopback inside; owner, interfaces and routes from outside."""

from __future__ import annotations

import fcntl
import os
import socket
import struct

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
_IFF_LOOPBACK = 0x8
_LOOPBACK_UP = struct.pack("16sh22x", b"lo", _IFF_UP | _IFF_LOOPBACK)
_FAMILY, _KIND = int(socket.AF_INET), int(socket.SOCK_DGRAM)
_NS_GET_USERNS = 0xB701


def bring_loopback_up() -> None:
    """Bring up lo, which is down in a new network namespace. Needs CAP_NET_ADMIN over the namespace. Uses the base socket type
    and a prepared request, because this runs in every box."""
    control = socket.SocketType(_FAMILY, _KIND)
    try:
        fcntl.ioctl(control, _SIOCSIFFLAGS, _LOOPBACK_UP)
    finally:
        control.close()


def namespace_of(pid: int) -> int:
    """Return a descriptor of the process's network namespace, so that a reused pid cannot mislead us."""
    return os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def own_namespace() -> int:
    """Return a descriptor of the calling thread's network namespace."""
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def owner_of(namespace: int) -> int:
    """Return a descriptor of the user namespace that owns this network namespace. Its processes may live in another one: a
    guest is in one below, which is why it cannot change the rules."""
    descriptor = fcntl.ioctl(namespace, _NS_GET_USERNS)
    os.set_inheritable(descriptor, False)
    return descriptor


def are_same(namespace: int, other: int) -> bool:
    return os.path.samestat(os.fstat(namespace), os.fstat(other))


def interfaces_of(pid: int) -> list[str]:
    with open(f"/proc/{pid}/net/dev", encoding="ascii") as table:
        return [line.split(":", 1)[0].strip() for line in table if ":" in line]


def has_default_route(pid: int, *, ipv6: bool) -> bool:
    """Whether the process's network namespace has a default route through an interface that is up."""
    if not ipv6:
        with open(f"/proc/{pid}/net/route", encoding="ascii") as table:
            return any(line.split()[1:2] == ["00000000"] and line.split()[7] == "00000000" for line in table)
    with open(f"/proc/{pid}/net/ipv6_route", encoding="ascii") as table:
        rows = [line.split() for line in table]
    return any(row[0] == "0" * 32 and row[1] == "00" and row[-1] != "lo" for row in rows)
