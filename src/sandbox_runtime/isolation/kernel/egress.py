"""Which addresses a box with a network may send to: as data, as a pure function, and as an nft table for the box's namespace.

Theory of operation. The rules are in the box's network namespace, on the output hook of a chain with policy drop. That
namespace belongs to a user namespace above the guest's, so no capability that a guest can get inside lets it change them, and
they apply whatever is on the other side of the link (veth, pasta, slirp4netns). They are installed before the link exists.
Order: loopback is allowed; our own address pool is refused; the configured resolvers are allowed on port 53; the allow list;
the refused blocks; then the rest of the world is allowed. Every packet is checked, not only the first of a connection. Names
are not considered: the address that a packet is sent to is checked, so a name that changes its address gains nothing.

A refused packet is answered at once (TCP reset, otherwise ICMP "prohibited"), so that a program fails instead of waiting for a
timeout.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Block = ipaddress.IPv4Network | ipaddress.IPv6Network

TABLE = "sandbox_egress"

REFUSED_4 = (
    "0.0.0.0/8",  # this network; 0.0.0.0 reaches the host itself on many stacks
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # carrier-grade NAT; cloud and overlay internals, and our own pool
    "127.0.0.0/8",  # loopback
    "169.254.0.0/16",  # link-local, includes the metadata services of clouds
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments; metadata of some clouds
    "192.0.2.0/24",  # documentation: never public, sometimes used as a private net
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",  # private
    "198.18.0.0/15",  # benchmarks between own machines
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, and broadcast
)

PUBLIC_6 = (
    "2000::/3",  # global unicast: all of IPv6 that is assigned for public use
    "64:ff9b::/96",  # IPv4 through NAT64; private IPv4 in this form is refused below
)

REFUSED_6 = (
    "2001::/32",  # Teredo: carries any IPv4 address
    "2001:2::/48",  # benchmarks between own machines
    "2001:10::/28",  # identifiers, not addresses
    "2001:20::/28",  # identifiers, not addresses
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4: carries any IPv4 address
    "3fff::/20",  # documentation
)
"""In addition everything outside PUBLIC_6: loopback, v4-mapped and v4-compatible, local NAT64 64:ff9b:1::/48, unique local
fc00::/7, link-local fe80::/10, site-local fec0::/10, multicast ff00::/8 and all unassigned space."""

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


@dataclass(frozen=True)
class Rules:
    """`never` has priority over `allow`, and `allow` over `refused`. Resolvers are allowed on port 53 only."""

    never: tuple[Block, ...]
    allow: tuple[Block, ...]
    refused: tuple[Block, ...]
    resolvers: tuple[Address, ...]


def rules(
    allow: Sequence[str] = (), host_addresses: Iterable[str] = (), pools: Sequence[str] = (), resolvers: Sequence[str] = ()
) -> Rules:
    """Build the rules. host_addresses may contain blocks. Raises ValueError for an invalid address or block."""
    own = [ipaddress.ip_network(text, strict=False) for text in host_addresses]
    refused = [*map(ipaddress.ip_network, REFUSED_4), *map(ipaddress.ip_network, REFUSED_6), *own]
    translated = [_translated(block) for block in refused if isinstance(block, ipaddress.IPv4Network)]
    return Rules(
        never=_blocks(pools),
        allow=_blocks(allow),
        refused=(*refused, *translated),
        resolvers=tuple(map(ipaddress.ip_address, resolvers)),
    )


def blocked(address: str, allow: Sequence[str] = (), host_addresses: Iterable[str] = (), pools: Sequence[str] = ()) -> bool:
    """Whether a box may not send to this address. A v4-mapped address counts as its IPv4 address."""
    return refuses(rules(allow, host_addresses, pools), address)


def refuses(rules: Rules, address: str) -> bool:
    target: Address = ipaddress.ip_address(address)
    if isinstance(target, ipaddress.IPv6Address) and target.ipv4_mapped:
        target = target.ipv4_mapped
    if _within(target, rules.never):
        return True
    if _within(target, rules.allow):
        return False
    if _within(target, rules.refused):
        return True
    return target.version == 6 and not _within(target, _blocks(PUBLIC_6))


def box_table(rules: Rules) -> str:
    """Return the nft script for the box's namespace. Neighbour discovery is allowed because IPv6 does not work without it; its
    messages do not leave the link."""
    return f"""\
table inet {TABLE} {{
{block_sets(rules)}
{address_set("allow4", 4, rules.allow)}
{address_set("allow6", 6, rules.allow)}
{address_set("resolvers4", 4, map(ipaddress.ip_network, rules.resolvers))}
{address_set("resolvers6", 6, map(ipaddress.ip_network, rules.resolvers))}
  chain input {{
    type filter hook input priority filter; policy drop;
    iifname "lo" accept
    ct state established,related accept
    icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} ip6 hoplimit 255 accept
  }}
  chain forward {{
    type filter hook forward priority filter; policy drop;
  }}
  chain output {{
    type filter hook output priority filter; policy drop;
    oifname "lo" accept
    icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} ip6 hoplimit 255 accept
    ip daddr @never4 goto refuse
    ip6 daddr @never6 goto refuse
    meta l4proto {{ tcp, udp }} th dport 53 ip daddr @resolvers4 accept
    meta l4proto {{ tcp, udp }} th dport 53 ip6 daddr @resolvers6 accept
    ip daddr @allow4 accept
    ip6 daddr @allow6 accept
    ip daddr @refused4 goto refuse
    ip6 daddr @refused6 goto refuse
    meta nfproto ipv4 accept
    ip6 daddr @public6 accept
    goto refuse
  }}
  chain refuse {{
    meta l4proto tcp reject with tcp reset
    reject with icmpx admin-prohibited
  }}
}}
"""


def block_sets(rules: Rules) -> str:
    """Return the sets that are the same for every box of a server."""
    return "\n".join(
        (
            address_set("never4", 4, rules.never),
            address_set("never6", 6, rules.never),
            address_set("refused4", 4, rules.refused),
            address_set("refused6", 6, rules.refused),
            address_set("public6", 6, _blocks(PUBLIC_6)),
        )
    )


def address_set(name: str, version: int, blocks: Iterable[Block]) -> str:
    members = ", ".join(map(str, collapse(version, blocks)))
    elements = f" elements = {{ {members} }}" if members else ""
    return f"  set {name} {{ type ipv{version}_addr; flags interval;{elements} }}"


def collapse(version: int, blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks of one family without overlaps, which nft does not accept in a set."""
    if version == 4:
        return [*ipaddress.collapse_addresses(block for block in blocks if isinstance(block, ipaddress.IPv4Network))]
    return [*ipaddress.collapse_addresses(block for block in blocks if isinstance(block, ipaddress.IPv6Network))]


def _blocks(texts: Sequence[str]) -> tuple[Block, ...]:
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def _within(address: Address, blocks: Iterable[Block]) -> bool:
    return any(address in block for block in blocks)


def _translated(block: ipaddress.IPv4Network) -> ipaddress.IPv6Network:
    """Return the same addresses as NAT64 addresses."""
    start = int(_NAT64.network_address) + int(block.network_address)
    return ipaddress.IPv6Network((start, _NAT64.prefixlen + block.prefixlen))
