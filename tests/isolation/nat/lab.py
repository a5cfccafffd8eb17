"""A world of network namespaces to test in, with no way out of it.

    box ── (what is tested) ── host ──── outside: 192.31.196.10, 2001:4:112::10 (public), 10.9.9.9, 169.254.169.254, fd99::9, …
                                 └────── inner: 10.50.0.2, fd50::2, a neighbour of the host that outside has no business with

The public addresses are those of a service that answers nobody (AS112): special enough to be nobody's, global enough to be
allowed. Nothing has a name in the file system: namespaces are held by descriptors and go with the test process.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import select
import socket
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

from sandbox_runtime.isolation.kernel import namespaces, netlink, network

PUBLIC_4 = "192.31.196.10"
PUBLIC_6 = "2001:4:112::10"
PRIVATE_4 = "10.9.9.9"
METADATA = "169.254.169.254"
UNIQUE_LOCAL_6 = "fd99::9"
HOST_4 = "172.20.0.2"
HOST_6 = "fd77::2"
HOST_PUBLIC_4 = "192.31.196.77"
HOST_PUBLIC_6 = "2001:4:112::77"
GATEWAY_4 = "172.20.0.1"
INNER_4 = "10.50.0.2"
INNER_6 = "fd50::2"
OUTSIDE_4 = (PUBLIC_4, PRIVATE_4, METADATA, "100.64.9.9", "192.168.9.9", "198.18.0.9", "203.0.113.9")
OUTSIDE_6 = (PUBLIC_6, UNIQUE_LOCAL_6, "64:ff9b::a09:909", "64:ff9b::801:909", "2002:a09:909::1", "2001:db8::9")
PORT = 8080
DNS_PORT = 53
BOUND_S = 20.0

# Fixed and known to each other: neighbour discovery may take a second that no test here is about.
_MAC_HOST = "02:00:00:00:00:01"
_MAC_OUTSIDE = "02:00:00:00:00:02"
_MAC_LAN = "02:00:00:00:00:03"
_MAC_INNER = "02:00:00:00:00:04"

T = TypeVar("T")
NewLoop = Callable[[], asyncio.AbstractEventLoop]


class Namespace:
    """A network namespace, and a way to do things in it: each in a thread of its own that has entered it."""

    def __init__(self, descriptor: int) -> None:
        self.fd = descriptor

    @classmethod
    def fresh(cls) -> Namespace:
        def make() -> int:
            namespaces.leave(namespaces.NEW_NET)
            network.bring_loopback_up()
            return network.own_namespace()

        return cls(in_thread(make))

    def call(self, action: Callable[[], T]) -> T:
        def enter_and_act() -> T:
            namespaces.enter(self.fd, namespaces.NEW_NET)
            return action()

        return in_thread(enter_and_act)

    def ip(self, *lines: str, pass_fds: tuple[int, ...] = ()) -> None:
        self.run(["ip", "-batch", "-"], "\n".join(lines), pass_fds)

    def run(self, argv: list[str], text: str = "", pass_fds: tuple[int, ...] = ()) -> str:
        done = self.call(
            lambda: subprocess.run(
                argv, input=text, text=True, capture_output=True, pass_fds=pass_fds, timeout=BOUND_S, check=False
            )
        )
        assert done.returncode == 0, f"{argv}: {done.stderr}"
        return done.stdout

    def interfaces(self) -> set[str]:
        return self.call(lambda: {name for _, name in socket.if_nameindex()})

    def addresses(self) -> list[str]:
        """Those that are not on loopback."""
        own = [route.block for route in self.call(netlink.routes) if route.local]
        return [str(block.network_address) for block in own if not block.is_loopback and block.prefixlen in (32, 128)]

    def reach(self, address: str, port: int = PORT) -> str:
        """The address the other side saw us come from, or the name of the error."""
        return self.call(lambda: _dial(address, port, 5.0))

    def hears_nothing_from(self, address: str) -> bool:
        """For what is dropped without a word; an answer here takes well under a millisecond."""
        return self.call(lambda: _dial(address, PORT, 0.3)) == "ETIMEDOUT"

    def close(self) -> None:
        os.close(self.fd)


class Listener:
    """Answers each connection with the address it came from."""

    def __init__(self, namespace: Namespace, port: int) -> None:
        self._socket = namespace.call(lambda: socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True))
        self._end_read, self._end_write = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while self._end_read not in select.select([self._socket, self._end_read], [], [])[0]:
            connection, peer = self._socket.accept()
            with contextlib.suppress(OSError), connection:
                connection.sendall(peer[0].removeprefix("::ffff:").encode())

    def close(self) -> None:
        os.write(self._end_write, b"x")
        self._thread.join(BOUND_S)
        self._socket.close()
        os.close(self._end_read)
        os.close(self._end_write)


class Box(Namespace):
    """A stand-in for a box: a process that sleeps in a network namespace of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", "the stand-in box did not start"
        self.pid = process.pid
        super().__init__(network.namespace_of(self.pid))

    def end(self) -> None:
        """The process; the namespace goes too unless something else still holds it."""
        self._process.kill()
        self._process.communicate(timeout=BOUND_S)

    def end_all(self) -> None:
        self.end()
        super().close()
        self.fd = -1

    def close(self) -> None:
        self.end()
        if self.fd >= 0:
            super().close()


def arrives(sender: Namespace, source: str, receiver: Namespace, target: str) -> bool:
    """Whether a datagram that carries this source gets there, whatever comes back."""
    family = socket.AF_INET6 if ":" in target else socket.AF_INET
    with receiver.call(lambda: socket.socket(family, socket.SOCK_DGRAM)) as ear:
        ear.bind((target, PORT))
        ear.settimeout(0.3)
        with sender.call(lambda: socket.socket(family, socket.SOCK_DGRAM)) as mouth:
            mouth.bind((source, 0))
            mouth.sendto(b"hello", (target, PORT))
        try:
            return ear.recv(100) == b"hello"
        except TimeoutError:
            return False


class Lab:
    """`do` awaits something in an event loop that lives in the host's namespace, as the server would."""

    def __init__(self, undo: contextlib.ExitStack, new_loop: NewLoop) -> None:
        self._undo = undo
        self.outside, self.host, self.inner = (undo.enter_context(contextlib.closing(Namespace.fresh())) for _ in range(3))
        self._wire()
        for namespace, port in ((self.outside, PORT), (self.outside, DNS_PORT), (self.host, PORT), (self.inner, PORT)):
            undo.enter_context(contextlib.closing(Listener(namespace, port)))
        self._loop = undo.enter_context(_loop_in(self.host, new_loop))

    def do(self, awaitable: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(awaitable, self._loop).result(BOUND_S)

    def box(self, *prefix: str) -> Box:
        argv = [*(prefix or ("unshare", "--net")), "sh", "-c", "ip link set lo up && echo ready && exec sleep 300"]
        process = self.host.call(lambda: subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
        self._undo.callback(process.kill)
        return self._undo.enter_context(contextlib.closing(Box(process)))

    def listen(self, namespace: Namespace, port: int = PORT) -> None:
        self._undo.enter_context(contextlib.closing(Listener(namespace, port)))

    def tables(self) -> str:
        return self.host.run(["nft", "list", "ruleset"])

    def _wire(self) -> None:
        self.host.ip(
            f"link add up0 address {_MAC_HOST} type veth peer name up0 address {_MAC_OUTSIDE} {_in(self.outside)}",
            f"link add lan0 address {_MAC_LAN} type veth peer name lan0 address {_MAC_INNER} {_in(self.inner)}",
            *_end("up0", f"{HOST_4}/24", f"{HOST_6}/64", "fe80::2/64"),
            f"neigh replace fd77::1 lladdr {_MAC_OUTSIDE} dev up0 nud permanent",
            f"addr add {HOST_PUBLIC_4} dev lo",
            # Of no preferred lifetime: never chosen as a source, so that answers come back by the uplink's own address.
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


def in_thread(action: Callable[[], T]) -> T:
    results: list[T] = []
    errors: list[BaseException] = []

    def act() -> None:
        try:
            results.append(action())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(BOUND_S)
    if errors:
        raise errors[0]
    assert results, f"not done within {BOUND_S} s"
    return results[0]


@contextlib.contextmanager
def _loop_in(namespace: Namespace, new_loop: NewLoop) -> Iterator[asyncio.AbstractEventLoop]:
    loop = new_loop()

    def serve() -> None:
        namespaces.enter(namespace.fd, namespaces.NEW_NET)
        asyncio.set_event_loop(loop)
        loop.run_forever()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(BOUND_S)
        loop.close()


def _in(namespace: Namespace) -> str:
    return f"netns /proc/self/fd/{namespace.fd}"


def _end(name: str, *addresses: str) -> list[str]:
    return [
        f"link set {name} addrgenmode none",
        *(f"addr add {address} dev {name}" + (" nodad" if ":" in address else "") for address in addresses),
        f"link set {name} up",
    ]


def _dial(address: str, port: int, wait_s: float) -> str:
    try:
        with socket.create_connection((address, port), timeout=wait_s) as connection:
            return connection.recv(100).decode()
    except TimeoutError:
        return "ETIMEDOUT"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
