"""Enable forwarding on single interfaces of the host, never on the whole host.

IPv4 checks the interface that a packet arrives on: the box's link on the way out, the uplink on the way back. IPv6 has such a
switch per interface (force_forwarding) since Linux 6.17; before that there is only a global one, and using it would make the
host ignore router advertisements and might cost it its default route. There a box gets IPv6 only if the host already forwards.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from pathlib import Path

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation.kernel.netlink import Route

_SWITCH = {4: "forwarding", 6: "force_forwarding"}


def is_possible(version: int) -> bool:
    return host_forwards(version) or _path(version, "all").exists()


def host_forwards(version: int) -> bool:
    """Whether forwarding is on for the whole host; then we do not touch it."""
    path = Path(f"/proc/sys/net/ipv{version}/conf/all/forwarding")
    return path.exists() and path.read_text().strip() != "0"


def is_on(version: int, interface: str) -> bool:
    return _path(version, interface).read_text().strip() != "0"


def switch(version: int, interface: str, *, on: bool) -> None:
    """Enable or disable forwarding. Disabling an interface that no longer exists is fine."""
    path = _path(version, interface)
    try:
        path.write_text("1" if on else "0")
    except FileNotFoundError:
        if on:
            raise
    except OSError as error:
        raise Unavailable(f"network nat cannot write {path} ({error}); a container needs a writable /proc/sys") from error


def uplinks(version: int, routes: Iterable[Route], ours: Sequence[str]) -> list[str]:
    """Return the names of all interfaces that a route uses: answers to a box can arrive on any of them."""
    wanted = [route for route in routes if route.unicast and route.block.version == version]
    names = {_name_of(index) for route in wanted for index in route.interfaces}
    return sorted(name for name in names if name not in ("", "lo", *ours))


def _name_of(index: int) -> str:
    try:
        return socket.if_indextoname(index)
    except OSError:
        return ""


def _path(version: int, interface: str) -> Path:
    return Path(f"/proc/sys/net/ipv{version}/conf/{interface}/{_SWITCH[version]}")
