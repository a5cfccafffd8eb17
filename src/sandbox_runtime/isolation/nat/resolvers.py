"""Choose the resolvers of a box.

A resolver with a public address is reachable like any other public address. One with a private address, or the host itself, is
reachable only if the operator set `dns`: it is then allowed by address, on port 53 only. One on the host's loopback is never
reachable from a box; if that is systemd's stub, its upstream servers are used instead.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation.kernel import egress
from sandbox_runtime.isolation.nat.options import NatOptions

_MAX_RESOLVERS = 3  # as many as resolv.conf(5) supports


@dataclass(frozen=True, slots=True)
class Resolvers:
    """exempt: resolvers whose addresses the rules would otherwise refuse."""

    addresses: tuple[str, ...]
    exempt: tuple[str, ...]

    @property
    def resolv_conf(self) -> str:
        if not self.addresses:
            return "# no resolver is reachable from this box\n"
        return "".join(f"nameserver {address}\n" for address in self.addresses)


def choose(options: NatOptions, rules: egress.Rules, families: Sequence[int]) -> Resolvers:
    configured = [address for address in _configured(options) if _can_be_reached(address, families)]
    refused = [address for address in configured if egress.refuses(rules, address)]
    if options.dns and not configured:
        raise Unavailable(
            "dns is on, but every resolver of this host is on loopback or of a family without a route: set nameservers"
        )
    usable = [address for address in configured if options.dns or address not in refused][:_MAX_RESOLVERS]
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
    """Whether the text is a usable address. IPv6 link-local addresses name an interface of the host, which has no meaning in a
    box. IPv4 link-local addresses count: some clouds have their resolver there."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return address.version == 4 or not address.is_link_local


def _can_be_reached(text: str, families: Sequence[int]) -> bool:
    address = ipaddress.ip_address(text)
    return address.version in families and not address.is_loopback and not address.is_unspecified
