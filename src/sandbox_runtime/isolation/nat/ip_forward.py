"""Which interfaces of the host pass packets on. We switch single interfaces, never the whole host.

IPv4 looks at the interface a packet came in by: the box's link on the way out, the uplink on the way back. IPv6 has such a switch
per interface (force_forwarding) since Linux 6.17; before, there is only one for all, and using it would make the host deaf to
router advertisements and may cost it its own default route. There a box gets IPv6 only if the host forwards already.
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
    """Whether someone switched it on for the whole host; then it is not ours to touch."""
    path = Path(f"/proc/sys/net/ipv{version}/conf/all/forwarding")
    return path.exists() and path.read_text().strip() != "0"


def is_on(version: int, interface: str) -> bool:
    return _path(version, interface).read_text().strip() != "0"


def switch(version: int, interface: str, *, on: bool) -> None:
    """An interface that has gone in the meantime needs no switching off."""
    path = _path(version, interface)
    try:
        path.write_text("1" if on else "0")
    except FileNotFoundError:
        if on:
            raise
    except OSError as error:
        raise Unavailable(
            f"network nat must set {path}, which is refused here ({error}); a container needs a writable /proc/sys"
        ) from error


def uplinks(version: int, routes: Iterable[Route], ours: Sequence[str]) -> list[str]:
    """Every interface a route leads through, by name: answers to a box can come in by any of them."""
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
