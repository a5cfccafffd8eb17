"""The host's side of all links of one server: its nft table and its forwarding interfaces.

Theory of operation. A server has one table, named after its tag, created in the same transaction that adds its first box and
deleted after its last. A box is a set of elements in the table's sets, so adding one costs one nft run however many exist. The
table repeats the rules of the box from outside, per packet, and adds three: nothing from a box is delivered to the host itself
except what the allow list names; nothing is forwarded between boxes; a packet whose source is not the box's own address is
dropped. A drop here is final; an accept is not, so a host firewall that refuses to forward still does.

Interfaces on which we enabled forwarding (see ip_forward) are recorded in the table first, so that whoever removes the table
(we, or the sweep of a later server) knows what to switch back. While they forward, the table drops every new connection that
they would now forward for others.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sandbox_runtime.isolation.kernel import egress
from sandbox_runtime.isolation.kernel.netlink import Route
from sandbox_runtime.isolation.nat import ip_forward, leases
from sandbox_runtime.isolation.nat.tools import Tools

_TABLE_PREFIX = "sandbox_runtime_"


@dataclass(frozen=True, slots=True)
class Member:
    """One box in the table: the host's end of its link, its addresses, and what it may reach besides the public."""

    interface: str
    sources: tuple[egress.Address, ...]
    rules: egress.Rules


class Gateway:
    def __init__(self, tools: Tools, tag: str, rules: egress.Rules) -> None:
        self._tools = tools
        self._table = _TABLE_PREFIX + tag
        self._rules = rules
        self._members: set[str] = set()
        self._opened_by_us: set[tuple[int, str]] = set()
        self._lock = asyncio.Lock()

    async def add(self, member: Member, routes: Sequence[Route], families: Sequence[int]) -> None:
        """Add the rules of a box, then enable forwarding on uplinks. The link itself does not exist yet."""
        async with self._lock, leases.host_lock():
            script = [self._definition()] if not self._members else []
            opening = {(version, name) for version in families for name in await self._interfaces_to_open(version, routes)}
            script += [f'add element inet {self._table} opened{version} {{ "{name}" }}' for version, name in opening]
            await self._apply([*script, *self._elements("add", member)])
            self._members.add(member.interface)
            self._opened_by_us |= opening
            for version, name in opening:
                ip_forward.switch(version, name, on=True)

    async def remove(self, member: Member) -> None:
        """Remove a box. Also works after a failed add, when the table may or may not exist."""
        async with self._lock, leases.host_lock():
            was_member = member.interface in self._members
            self._members.discard(member.interface)
            if self._members and was_member:
                await self._apply([*self._elements("delete", member)])
            elif not self._members and self._table in await tables(self._tools):
                self._opened_by_us.clear()
                await retire(self._tools, self._table)

    async def _interfaces_to_open(self, version: int, routes: Sequence[Route]) -> list[str]:
        """Return interfaces that do not forward, and those that do only because another server of ours needs them."""
        if ip_forward.host_forwards(version):
            return []
        names = ip_forward.uplinks(version, routes, [*self._members])
        closed = [name for name in names if not ip_forward.is_on(version, name)]
        unknown = {name for name in names if name not in closed and (version, name) not in self._opened_by_us}
        return [*closed, *(unknown & await self._opened_by_others(version) if unknown else ())]

    async def _opened_by_others(self, version: int) -> set[str]:
        others = [table for table in await tables(self._tools) if table != self._table]
        return {name for table in others for name in await _opened(self._tools, table, version)}

    async def _apply(self, script: Sequence[str]) -> None:
        await self._tools.run([self._tools.find("nft"), "-f", "-"], stdin="\n".join(script))

    def _elements(self, verb: str, member: Member) -> Iterator[str]:
        name = f'"{member.interface}"'
        yield f"{verb} element inet {self._table} boxes {{ {name} }}"
        for version in (4, 6):
            resolvers = [address for address in member.rules.resolvers if address.version == version]
            sources = [address for address in member.sources if address.version == version]
            allowed = egress.collapse(version, member.rules.allow)
            for kind, members in (("sources", sources), ("resolvers", resolvers), ("allow", allowed)):
                yield from _pairs(verb, f"{self._table} {kind}{version}", name, members)

    def _definition(self) -> str:
        return f"""\
table inet {self._table} {{
{egress.block_sets(self._rules)}
  set boxes {{ type ifname; }}
  set opened4 {{ type ifname; }}
  set opened6 {{ type ifname; }}
  set sources4 {{ type ifname . ipv4_addr; }}
  set sources6 {{ type ifname . ipv6_addr; }}
  set resolvers4 {{ type ifname . ipv4_addr; }}
  set resolvers6 {{ type ifname . ipv6_addr; }}
  set allow4 {{ type ifname . ipv4_addr; flags interval; }}
  set allow6 {{ type ifname . ipv6_addr; flags interval; }}
  chain named {{
    meta nfproto ipv4 iifname . ip saddr != @sources4 drop
    meta nfproto ipv6 iifname . ip6 saddr != @sources6 drop
    ip daddr @never4 drop
    ip6 daddr @never6 drop
    meta l4proto {{ tcp, udp }} th dport 53 iifname . ip daddr @resolvers4 accept
    meta l4proto {{ tcp, udp }} th dport 53 iifname . ip6 daddr @resolvers6 accept
    iifname . ip daddr @allow4 accept
    iifname . ip6 daddr @allow6 accept
  }}
  chain input {{
    type filter hook input priority filter - 10; policy accept;
    iifname @boxes jump named
    iifname @boxes drop
  }}
  chain forward {{
    type filter hook forward priority filter - 10; policy accept;
    oifname @boxes ct state established,related accept
    oifname @boxes drop
    iifname @boxes goto outward
    meta nfproto ipv4 iifname @opened4 ct state new,invalid ct status & dnat != dnat drop
    meta nfproto ipv6 iifname @opened6 ct state new,invalid ct status & dnat != dnat drop
  }}
  chain outward {{
    jump named
    ip daddr @refused4 drop
    ip6 daddr @refused6 drop
    meta nfproto ipv4 accept
    ip6 daddr @public6 accept
    drop
  }}
  chain postrouting {{
    type nat hook postrouting priority srcnat; policy accept;
    iifname @boxes masquerade
  }}
}}"""


async def tables(tools: Tools) -> list[str]:
    """Return the tables of all our servers, dead or alive."""
    listing = await tools.run([tools.find("nft"), "list", "tables"])
    return re.findall(rf"^table inet ({_TABLE_PREFIX}[0-9a-z]+)$", listing, re.MULTILINE)


def server_tag(table: str) -> str:
    return table.removeprefix(_TABLE_PREFIX)


async def retire(tools: Tools, table: str) -> None:
    """Delete a table and disable forwarding that its server had enabled, unless another server needs it. Call while holding
    host_lock."""
    others = [other for other in await tables(tools) if other != table]
    for version in (4, 6):
        needed = {name for other in others for name in await _opened(tools, other, version)}
        spare = set() if ip_forward.host_forwards(version) else await _opened(tools, table, version) - needed
        for name in spare:
            ip_forward.switch(version, name, on=False)
    await tools.run([tools.find("nft"), "delete", "table", "inet", table])


async def _opened(tools: Tools, table: str, version: int) -> set[str]:
    listing = await tools.run([tools.find("nft"), "list", "set", "inet", table, f"opened{version}"])
    return set(re.findall(r'"([^"]+)"', listing))


def _pairs(verb: str, where: str, name: str, members: Iterable[object]) -> Iterator[str]:
    joined = ", ".join(f"{name} . {member}" for member in members)
    if joined:
        yield f"{verb} element inet {where} {{ {joined} }}"
