"""Protect a server without keys from web pages.

Only pages of this machine may use such a server. Otherwise any page that its user visits could: with a plain request (Origin), or
through a host name that it resolves to this machine (Host, DNS rebinding).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

ANY = "*"
_OTHER_SITES = frozenset({b"cross-site", b"same-site"})


def foreign_origin(origin: bytes | None, allowed: Collection[str]) -> bool:
    """Whether a page of another site sent the request and its origin is not allowed."""
    if origin is None:
        return False
    text = origin.decode("latin-1")
    return text not in allowed and not _is_local(_hostname(text))


def is_cross_site(headers: Mapping[bytes, bytes], allowed: Collection[str]) -> bool:
    """Whether a page of another site caused the request. Links and images send only Sec-Fetch-Site; Origin decides if present."""
    if headers.get(b"sec-fetch-site") not in _OTHER_SITES:
        return False
    origin = headers.get(b"origin")
    return origin is None or foreign_origin(origin, allowed)


def foreign_host(host: bytes | None, allowed: Collection[str]) -> bool:
    """Whether the host name is neither local nor allowed. Browsers always send one."""
    if host is None:
        return False
    name = _hostname(f"//{host.decode('latin-1')}")
    return not _is_local(name) and not host_matches(name, allowed)


def foreign_client(client: tuple[str, int] | None) -> bool:
    """Whether the client is on another machine. A client without an address uses a Unix socket."""
    try:
        address = ipaddress.ip_address(client[0] if client else "")
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return not (mapped or address).is_loopback


def host_matches(name: str, allowed: Collection[str]) -> bool:
    """Whether the name is in the list, or below a domain of it written as *.example.org."""
    return name in allowed or any(entry.startswith("*.") and name.endswith(entry[1:]) for entry in allowed)


def _hostname(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_local(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
