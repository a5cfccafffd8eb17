"""Which resolvers a box is told of.

A resolver with a public address is reachable like any other public address. One with a private address, or one that is the host
itself, only if the operator said `dns`: then it is let through by address, on port 53 and nothing else. One on the host's
loopback can never be reached from a box; where that is systemd's stub, the servers it asks are taken instead.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation.kernel import egress
from sandbox_runtime.isolation.nat.options import NatOptions

_MAX_RESOLVERS = 3  # what resolv.conf(5) honours


@dataclass(frozen=True, slots=True)
class Resolvers:
    """exempt: those of addresses that the rules would refuse without an exception."""

    addresses: tuple[str, ...]
    exempt: tuple[str, ...]

    @property
    def resolv_conf(self) -> str:
        if not self.addresses:
            return "# this box has no resolver it may reach\n"
        return "".join(f"nameserver {address}\n" for address in self.addresses)


def choose(options: NatOptions, rules: egress.Rules, families: Sequence[int]) -> Resolvers:
    known = [address for address in _configured(options) if _can_be_reached(address, families)]
    refused = [address for address in known if egress.refuses(rules, address)]
    if options.dns and not known:
        raise Unavailable(
            "dns is allowed for boxes, but every resolver of this host is on its loopback or of a family without a route:"
            " name resolvers in nameservers"
        )
    usable = [address for address in known if options.dns or address not in refused][:_MAX_RESOLVERS]
    return Resolvers(tuple(usable), tuple(address for address in usable if address in refused))


def _configured(options: NatOptions) -> list[str]:
    if options.nameservers:
        return list(options.nameservers)
    listed = _read_nameservers(options.resolv_conf)
    if all(ipaddress.ip_address(address).is_loopback for address in listed):
        return _read_nameservers(options.upstream_resolv_conf) or listed
    return listed


def _read_nameservers(path: Path) -> list[str]:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return []
    words = [line.split() for line in lines]
    return [row[1] for row in words if len(row) > 1 and row[0] == "nameserver" and _is_address(row[1])]


def _is_address(text: str) -> bool:
    """Link-local ones of IPv6 come with the name of an interface of the host, which means nothing in a box. Those of IPv4 count:
    some clouds have their resolver there."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return address.version == 4 or not address.is_link_local


def _can_be_reached(text: str, families: Sequence[int]) -> bool:
    address = ipaddress.ip_address(text)
    return address.version in families and not address.is_loopback and not address.is_unspecified
