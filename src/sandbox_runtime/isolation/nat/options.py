"""Options of the network of boxes, set by the operator."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.errors import InvalidRequest

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class NatOptions:
    """Options of Nat.

    pool4, pool6: addresses for our links; they never leave this host.
    dns: let boxes use the host's resolvers (or `nameservers`) on port 53 even if their addresses are refused.
    refuse: further addresses to refuse, such as the public address under which a cloud shows this host to itself.
    tool_path: where ip, nft, … are looked for, independent of the server's environment.
    """

    pool4: str = "100.96.0.0/16"
    pool6: str = "fd8c:1f3a:92d7::/48"
    dns: bool = False
    nameservers: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    tool_path: str = _SYSTEM_PATH
    tool_timeout_s: float = 10.0
    resolv_conf: Path = Path("/etc/resolv.conf")
    upstream_resolv_conf: Path = Path("/run/systemd/resolve/resolv.conf")

    def __post_init__(self) -> None:
        self._check_pool("pool4", 4, 8, 24)
        self._check_pool("pool6", 6, 8, 104)
        for text in self.refuse:
            _parse(ipaddress.ip_network, text, "refuse", "an address or a CIDR block")
        for text in self.nameservers:
            _parse(ipaddress.ip_address, text, "nameservers", "an address")
        if not self.tool_timeout_s > 0:
            raise InvalidRequest(f"tool_timeout_s must be more than 0, not {self.tool_timeout_s!r}")

    def _check_pool(self, name: str, version: int, shortest: int, longest: int) -> None:
        text = getattr(self, name)
        try:
            block = ipaddress.ip_network(text)
        except ValueError as error:
            raise InvalidRequest(f"{name} must be a CIDR block, not {text!r}: {error}") from error
        if block.version != version or not shortest <= block.prefixlen <= longest:
            raise InvalidRequest(f"{name} must be an IPv{version} block between /{shortest} and /{longest}, not {text!r}")

    @property
    def pools(self) -> tuple[str, str]:
        return self.pool4, self.pool6


def _parse(parse: Callable[[str], object], text: str, name: str, wanted: str) -> None:
    try:
        parse(text)
    except ValueError as error:
        raise InvalidRequest(f"{name} entry {text!r} is not {wanted}") from error
