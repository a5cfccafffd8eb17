"""From where a browser may be sent here. Without keys, only pages of this machine may use the server: otherwise any page that its
user visits could, by its own address (Origin) or by a name that it lets point to this machine (Host)."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

ANY = "*"
_OTHER_SITES = frozenset({b"cross-site", b"same-site"})


def foreign_origin(origin: bytes | None, allowed: Collection[str]) -> bool:
    """Whether a browser sent this for a page of another site that nobody allowed by name."""
    if origin is None:
        return False
    text = origin.decode("latin-1")
    return text not in allowed and not _is_here(_hostname(text))


def sent_by_another_site(headers: Mapping[bytes, bytes], allowed: Collection[str]) -> bool:
    """Whether a browser says that a page of another origin caused this request. Links and images carry no Origin, so that only
    Sec-Fetch-Site tells; where there is an Origin, it decides."""
    if headers.get(b"sec-fetch-site") not in _OTHER_SITES:
        return False
    origin = headers.get(b"origin")
    return origin is None or foreign_origin(origin, allowed)


def foreign_host(host: bytes | None, allowed: Collection[str]) -> bool:
    """Whether the server was called by a name that is neither this machine's own nor allowed. Clients that send none are no
    browsers."""
    if host is None:
        return False
    name = _hostname(f"//{host.decode('latin-1')}")
    return not _is_here(name) and not listed(name, allowed)


def foreign_client(client: tuple[str, int] | None) -> bool:
    """Whether the other end is on another machine. What has no address came through a socket of this one."""
    try:
        address = ipaddress.ip_address(client[0] if client else "")
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return not (mapped or address).is_loopback


def listed(name: str, allowed: Collection[str]) -> bool:
    """A name, or one below a domain that is written as *.example.org."""
    return name in allowed or any(entry.startswith("*.") and name.endswith(entry[1:]) for entry in allowed)


def _hostname(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_here(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
