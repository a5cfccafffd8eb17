"""Link driver as root: a veth pair with one end in the host and one in the box.

Theory of operation. Each link gets a slot (a /31 and a /127) and a name made of the server's tag and the slot, so that a later
server can recognize links of a dead one. Both ends have fixed hardware addresses and know each other's, so the box needs no ARP
or neighbour discovery and has no link-local address. Order: rules in the box (done before we are called), rules in the host,
the pair, host end up and forwarding, box end up. Undoing reverses the order, so that no link is ever without rules.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from contextlib import AsyncExitStack

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.kernel import capabilities, egress, netlink
from sandbox_runtime.isolation.nat import gateway, ip_forward, leases
from sandbox_runtime.isolation.nat.namespace import INTERFACE, BoxNamespace
from sandbox_runtime.isolation.nat.options import NatOptions
from sandbox_runtime.isolation.nat.tools import Tools

_LINK_PREFIX = "sb"
_LINK = re.compile(r"^\d+: (sb([0-9a-z]{9})[0-9a-z]{3})[:@]", re.MULTILINE)
_CAP_NET_ADMIN = 12


class VethDriver:
    name = "veth"

    def __init__(self, options: NatOptions, tools: Tools) -> None:
        self._options = options
        self._tools = tools
        self._tag, self._liveness = leases.new_tag()
        self._slots = leases.SlotPool(options)
        self._gateway = gateway.Gateway(tools, self._tag, egress.rules((), options.refuse, options.pools))

    def check(self) -> None:
        for program in ("ip", "nft", "nsenter", "sh"):
            self._tools.find(program)
        if not capabilities.effective() & 1 << _CAP_NET_ADMIN:
            raise Unavailable("network nat as root needs CAP_NET_ADMIN: a container needs --cap-add NET_ADMIN")

    def families(self) -> tuple[int, ...]:
        leads_6 = any(route.unicast and route.block.prefixlen == 0 and route.block.version == 6 for route in netlink.routes())
        return (4, 6) if leads_6 and ip_forward.is_possible(6) else (4,)

    async def connect(self, box: BoxNamespace, rules: egress.Rules, families: tuple[int, ...], undo: AsyncExitStack) -> None:
        routes = netlink.routes()
        slot = self._slots.take(routes)
        undo.callback(slot.release)
        ends = _LinkEnds(f"{_LINK_PREFIX}{self._tag}{slot.digits}", slot, families)
        member = gateway.Member(ends.name, ends.box_addresses, rules)
        # Registered first, so that a partly failed add is undone too.
        undo.push_async_callback(self._gateway.remove, member)
        await self._gateway.add(member, routes, families)
        undo.push_async_callback(_remove_link, self._tools, ends.name)
        await self._batch([], ends.on_host(box.network_fd), box.descriptors)
        for version in families:
            if version == 4 or not ip_forward.host_forwards(version):
                ip_forward.switch(version, ends.name, on=True)
        await self._batch(box.enter_argv(self._tools), ends.in_box(), box.descriptors)

    async def sweep(self) -> list[str]:
        """Remove leftovers of servers that died without closing: their kernel objects remain, their reserved names do not."""
        async with leases.host_lock():
            dead = [table for table in await gateway.tables(self._tools) if not leases.is_alive(gateway.server_tag(table))]
            links = [name for name, tag in await self._links() if not leases.is_alive(tag)]
            for name in links:
                await _remove_link(self._tools, name)
            for table in dead:
                await gateway.retire(self._tools, table)
        return [*links, *dead]

    def close(self) -> None:
        self._liveness.close()

    async def _links(self) -> list[tuple[str, str]]:
        """Return the links of all our servers, dead or alive, each with its server's tag."""
        listing = await self._tools.run([self._tools.find("ip"), "-oneline", "link", "show", "type", "veth"])
        return _LINK.findall(listing)

    async def _batch(self, prefix: list[str], lines: list[str], descriptors: tuple[int, ...]) -> None:
        await self._tools.run([*prefix, self._tools.find("ip"), "-batch", "-"], stdin="\n".join(lines), pass_fds=descriptors)


class _LinkEnds:
    """The two ends of one link, as lines for `ip -batch`."""

    def __init__(self, name: str, slot: leases.Slot, families: tuple[int, ...]) -> None:
        links: list[egress.Block] = [slot.link4] if families == (4,) else [slot.link4, slot.link6]
        self.name = name
        self.box_addresses: tuple[egress.Address, ...] = tuple(link[1] for link in links)
        self._links = links
        high, low = divmod(slot.number, 256)
        self._host_mac = f"02:53:42:00:{high:02x}:{low:02x}"
        self._box_mac = f"02:53:42:01:{high:02x}:{low:02x}"

    def on_host(self, network_fd: int) -> list[str]:
        peer = f"peer name {INTERFACE} address {self._box_mac} netns /proc/self/fd/{network_fd}"
        make = f"link add {self.name} address {self._host_mac} type veth {peer}"
        return [make, *self._end(self.name, own=0, other=1, other_mac=self._box_mac)]

    def in_box(self) -> list[str]:
        routes = [f"route add {'0.0.0.0/0' if link.version == 4 else '::/0'} via {link[0]}" for link in self._links]
        return [*self._end(INTERFACE, own=1, other=0, other_mac=self._host_mac), *routes]

    def _end(self, name: str, *, own: int, other: int, other_mac: str) -> list[str]:
        return [
            f"link set {name} addrgenmode none",
            *(f"addr add {link[own]}/{link.prefixlen} dev {name}{_flags(link)}" for link in self._links),
            f"link set {name} up",
            *(f"neigh replace {link[other]} lladdr {other_mac} dev {name} nud permanent" for link in self._links),
        ]


def _flags(link: egress.Block) -> str:
    """Skip duplicate address detection: nobody else is on the link, and it would make the first second fail."""
    return " nodad" if isinstance(link, ipaddress.IPv6Network) else ""


async def _remove_link(tools: Tools, name: str) -> None:
    """Remove the link. It may be gone, or vanish meanwhile: a box that ends takes both ends with it."""
    if not _exists(name):
        return
    try:
        await tools.run([tools.find("ip"), "link", "delete", name])
    except PlatformFault:
        if _exists(name):
            raise


def _exists(name: str) -> bool:
    return any(known == name for _, known in socket.if_nameindex())
