"""Read the routing tables of the current network namespace over netlink."""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

Block = ipaddress.IPv4Network | ipaddress.IPv6Network

_RTM_GETROUTE = 26
_NLMSG_ERROR = 2
_NLMSG_DONE = 3
_REQUEST_DUMP = 0x1 | 0x300
_RTA_DST = 1
_RTA_OIF = 4
_RTA_MULTIPATH = 9
_UNICAST = 1
_LOCAL = 2
_WAIT_S = 5.0

_Header = struct.Struct("=IHHII")
_Route = struct.Struct("=BBBBBBBBI")
_Attribute = struct.Struct("=HH")
_NextHop = struct.Struct("=HBBi")


@dataclass(frozen=True)
class Route:
    """A route.

    local: the block belongs to the host itself, such as its addresses.
    interfaces: by index; empty for a black hole.
    """

    block: Block
    local: bool
    unicast: bool
    interfaces: tuple[int, ...]


def routes() -> list[Route]:
    """Return the routes of all tables and both families. Local routes exist for every address of the host and for blocks it
    claims without one."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as link:
        link.settimeout(_WAIT_S)
        link.bind((0, 0))
        body = _Route.pack(socket.AF_UNSPEC, 0, 0, 0, 0, 0, 0, 0, 0)
        link.send(_Header.pack(_Header.size + len(body), _RTM_GETROUTE, _REQUEST_DUMP, 1, 0) + body)
        parsed = [_parse(message) for message in _messages(link)]
    return [route for route in parsed if route is not None]


def _messages(link: socket.socket) -> Iterator[bytes]:
    while True:
        data = link.recv(1 << 17)
        while data:
            length, kind, *_ = _Header.unpack_from(data)
            if kind == _NLMSG_DONE:
                return
            if kind == _NLMSG_ERROR:
                number = -struct.unpack_from("=i", data, _Header.size)[0]
                raise OSError(number, f"the kernel refused to list its routes: {os.strerror(number)}")
            yield data[_Header.size : length]
            data = data[_aligned(length) :]


def _parse(message: bytes) -> Route | None:
    family, prefix, _source, _tos, _table, _protocol, _scope, kind, _flags = _Route.unpack_from(message)
    if family not in (socket.AF_INET, socket.AF_INET6):
        return None
    attributes = dict(_attributes(message[_Route.size :]))
    width = 4 if family == socket.AF_INET else 16
    address = attributes.get(_RTA_DST, bytes(width))
    block: Block = ipaddress.ip_network((address, prefix), strict=False)
    return Route(block, kind == _LOCAL, kind == _UNICAST, tuple(_interfaces(attributes)))


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _Attribute.size:
        length, kind = _Attribute.unpack_from(data)
        if length < _Attribute.size:
            return
        yield kind & 0x3FFF, data[_Attribute.size : length]
        data = data[_aligned(length) :]


def _interfaces(attributes: dict[int, bytes]) -> Iterator[int]:
    if _RTA_OIF in attributes:
        yield struct.unpack("=i", attributes[_RTA_OIF])[0]
    hops = attributes.get(_RTA_MULTIPATH, b"")
    while len(hops) >= _NextHop.size:
        length, _flags, _weight, interface = _NextHop.unpack_from(hops)
        if length < _NextHop.size:
            return
        yield interface
        hops = hops[_aligned(length) :]


def _aligned(length: int) -> int:
    return (length + 3) & ~3
