"""A closed network of namespaces for attacks and tests.

    box ── (what is tested) ── host ──── outside: 192.31.196.10, 2001:4:112::10 (public), 10.9.9.9, 169.254.169.254, fd99::9, …
                                 └────── inner: 10.50.0.2, fd50::2, a neighbour of the host that outside must not reach

The public addresses belong to a service that answers nobody (AS112): not assigned to anyone, but global enough to be allowed.
Nothing has a name in the file system: namespaces are held by descriptors and end with the process. Needs root.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from typing import Any

from sandbox_runtime.doctor.network_lab_parts import DNS_PORT, PORT, TIMEOUT_S, Listener, Namespace, NewLoop, T, loop_in

PUBLIC_4 = "192.31.196.10"
PUBLIC_6 = "2001:4:112::10"
PRIVATE_4 = "10.9.9.9"
METADATA = "169.254.169.254"
METADATA_6 = "fd00:ec2::254"
OTHER_METADATA = ("100.100.100.200", "192.0.0.192")
UNIQUE_LOCAL_6 = "fd99::9"
HOST_4 = "172.20.0.2"
HOST_6 = "fd77::2"
HOST_PUBLIC_4 = "192.31.196.77"
HOST_PUBLIC_6 = "2001:4:112::77"
GATEWAY_4 = "172.20.0.1"
INNER_4 = "10.50.0.2"
INNER_6 = "fd50::2"
OUTSIDE_4 = (PUBLIC_4, PRIVATE_4, METADATA, "100.64.9.9", "192.168.9.9", "198.18.0.9", "203.0.113.9", *OTHER_METADATA)
OUTSIDE_6 = (PUBLIC_6, UNIQUE_LOCAL_6, METADATA_6, "64:ff9b::a09:909", "64:ff9b::801:909", "2002:a09:909::1", "2001:db8::9")

# Fixed and known to each other, because neighbour discovery can take a second.
_MAC_HOST = "02:00:00:00:00:01"
_MAC_OUTSIDE = "02:00:00:00:00:02"
_MAC_LAN = "02:00:00:00:00:03"
_MAC_INNER = "02:00:00:00:00:04"


class Lab:
    """`do` runs a coroutine in an event loop inside the host's namespace, as the server would."""

    def __init__(self, undo: contextlib.ExitStack, new_loop: NewLoop) -> None:
        self._undo = undo
        self.outside, self.host, self.inner = (undo.enter_context(contextlib.closing(Namespace.fresh())) for _ in range(3))
        self._wire()
        for namespace, port in ((self.outside, PORT), (self.outside, DNS_PORT), (self.host, PORT), (self.inner, PORT)):
            self.listen(namespace, port)
        self.loop = undo.enter_context(loop_in(self.host, new_loop))

    def do(self, awaitable: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(awaitable, self.loop).result(TIMEOUT_S)

    def listen(self, namespace: Namespace, port: int = PORT) -> None:
        self._undo.enter_context(contextlib.closing(Listener(namespace, port)))

    def _wire(self) -> None:
        self.host.ip(
            f"link add up0 address {_MAC_HOST} type veth peer name up0 address {_MAC_OUTSIDE} {_in(self.outside)}",
            f"link add lan0 address {_MAC_LAN} type veth peer name lan0 address {_MAC_INNER} {_in(self.inner)}",
            *_end("up0", f"{HOST_4}/24", f"{HOST_6}/64", "fe80::2/64"),
            f"neigh replace fd77::1 lladdr {_MAC_OUTSIDE} dev up0 nud permanent",
            f"addr add {HOST_PUBLIC_4} dev lo",
            # No preferred lifetime: never chosen as a source, so that answers come back through the uplink's own address.
            f"addr add {HOST_PUBLIC_6} dev lo nodad preferred_lft 0",
            *_end("lan0", "10.50.0.1/24", "fd50::1/64"),
            f"neigh replace {INNER_4} lladdr {_MAC_INNER} dev lan0 nud permanent",
            f"neigh replace {INNER_6} lladdr {_MAC_INNER} dev lan0 nud permanent",
            f"route add 0.0.0.0/0 via {GATEWAY_4}",
            "route add ::/0 via fd77::1",
            pass_fds=(self.outside.fd, self.inner.fd),
        )
        self.inner.ip(
            *_end("lan0", f"{INNER_4}/24", f"{INNER_6}/64"),
            f"neigh replace fd50::1 lladdr {_MAC_LAN} dev lan0 nud permanent",
            "route add 0.0.0.0/0 via 10.50.0.1",
            "route add ::/0 via fd50::1",
        )
        far = [f"addr add {address} dev lo" + (" nodad" if ":" in address else "") for address in (*OUTSIDE_4, *OUTSIDE_6)]
        back = [f"route add {HOST_PUBLIC_4} via {HOST_4}", f"route add {HOST_PUBLIC_6} via {HOST_6}"]
        inward = [f"route add 10.50.0.0/24 via {HOST_4}", f"route add fd50::/64 via {HOST_6}"]
        self.outside.ip(
            *_end("up0", f"{GATEWAY_4}/24", "fd77::1/64", "fe80::1/64"),
            f"neigh replace {HOST_6} lladdr {_MAC_HOST} dev up0 nud permanent",
            *far,
            *back,
            *inward,
        )


@contextlib.contextmanager
def open_lab(new_loop: NewLoop = asyncio.new_event_loop) -> Iterator[Lab]:
    with contextlib.ExitStack() as undo:
        yield Lab(undo, new_loop)


def _in(namespace: Namespace) -> str:
    return f"netns /proc/self/fd/{namespace.fd}"


def _end(name: str, *addresses: str) -> list[str]:
    return [
        f"link set {name} addrgenmode none",
        *(f"addr add {address} dev {name}" + (" nodad" if ":" in address else "") for address in addresses),
        f"link set {name} up",
    ]
