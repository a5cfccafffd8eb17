"""Host-wide reservations that only one server can hold: its tag, a pair of addresses, the right to change shared settings.

Each is a name in the abstract unix socket namespace. That belongs to the network namespace of our links, so every server that
could collide with us sees it, whatever container it runs in, and the kernel releases it when its holder dies. Guests are in
other network namespaces and cannot see it. Another user of the host can occupy names, and so make us skip addresses or fail
with a clear error, but cannot take what we hold.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import secrets
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.kernel.netlink import Route
from sandbox_runtime.isolation.nat.options import NatOptions

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_TAG_LENGTH = 9
_MAX_SLOTS = 1 << 15
_WAIT_S = 5.0
_RETRY_S = 0.01


def claim(name: str) -> socket.socket | None:
    """Reserve a name until the socket is closed. Returns None if it is taken."""
    holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    try:
        holder.bind(f"\0sandbox-runtime/nat/{name}")
    except OSError as error:
        holder.close()
        if error.errno == errno.EADDRINUSE:
            return None
        raise
    return holder


def is_alive(tag: str) -> bool:
    holder = claim(f"server/{tag}")
    if holder is None:
        return True
    holder.close()
    return False


def new_tag() -> tuple[str, socket.socket]:
    """Return a unique name for this server, and the socket that proves that it is alive."""
    for _ in range(8):
        tag = "".join(secrets.choice(_DIGITS) for _ in range(_TAG_LENGTH))
        holder = claim(f"server/{tag}")
        if holder is not None:
            return tag, holder
    raise PlatformFault("could not claim a name for this server's network links")


@asynccontextmanager
async def host_lock() -> AsyncIterator[None]:
    """Lock what all servers of a host share: which interfaces forward."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _WAIT_S
    while (holder := claim("settings")) is None:
        if loop.time() > deadline:
            raise PlatformFault(f"another server held the lock on network settings of this host for {_WAIT_S:g} s")
        await asyncio.sleep(_RETRY_S)
    try:
        yield
    finally:
        holder.close()


@dataclass(frozen=True, slots=True)
class Slot:
    """The addresses of one link: two of each family, a /31 and a /127."""

    number: int
    link4: ipaddress.IPv4Network
    link6: ipaddress.IPv6Network
    holder: socket.socket

    @property
    def digits(self) -> str:
        number, text = self.number, ""
        for _ in range(3):
            number, digit = divmod(number, len(_DIGITS))
            text = _DIGITS[digit] + text
        return text

    def release(self) -> None:
        self.holder.close()


class SlotPool:
    """Hands out slots in turn, so that an address rests as long as possible before it is reused."""

    def __init__(self, options: NatOptions) -> None:
        self._pool4 = ipaddress.IPv4Network(options.pool4)
        self._pool6 = ipaddress.IPv6Network(options.pool6)
        self._size = min(_MAX_SLOTS, self._pool4.num_addresses // 2)
        self._next = secrets.randbelow(self._size)

    def take(self, routes: Sequence[Route]) -> Slot:
        """Return a slot that no server holds and no route of the host covers; leftovers of dead servers have routes too."""
        near = [route.block for route in routes if route.block.prefixlen > 1]
        near = [block for block in near if block.overlaps(self._pool4) or block.overlaps(self._pool6)]
        for _ in range(self._size):
            number, self._next = self._next, (self._next + 1) % self._size
            link4, link6 = self._addresses(number)
            if any(block.overlaps(link4) or block.overlaps(link6) for block in near):
                continue
            holder = claim(f"slot/{link4}")
            if holder is not None:
                return Slot(number, link4, link6, holder)
        raise Unavailable(
            f"no free addresses in {self._pool4} and {self._pool6}: at most {self._size} links, and none where the host has a"
            " route; configure other pools"
        )

    def _addresses(self, number: int) -> tuple[ipaddress.IPv4Network, ipaddress.IPv6Network]:
        start4 = int(self._pool4.network_address) + 2 * number
        start6 = int(self._pool6.network_address) + 2 * number
        return ipaddress.IPv4Network((start4, 31)), ipaddress.IPv6Network((start6, 127))
