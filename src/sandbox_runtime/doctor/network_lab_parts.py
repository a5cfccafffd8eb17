"""Parts of a lab: network namespaces, and listeners and event loops inside them. Needs root."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import select
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.kernel import namespaces, netlink, network

PORT = 8080
DNS_PORT = 53
TIMEOUT_S = 20.0

T = TypeVar("T")
NewLoop = Callable[[], asyncio.AbstractEventLoop]


class Namespace:
    """A network namespace. Each call runs in its own thread that has entered it."""

    def __init__(self, descriptor: int) -> None:
        self.fd = descriptor

    @classmethod
    def fresh(cls) -> Namespace:
        def make() -> int:
            namespaces.unshare(namespaces.NEW_NET)
            network.bring_loopback_up()
            return network.own_namespace()

        return cls(in_thread(make))

    def call(self, action: Callable[[], T]) -> T:
        def enter_and_act() -> T:
            namespaces.setns(self.fd, namespaces.NEW_NET)
            return action()

        return in_thread(enter_and_act)

    def ip(self, *lines: str, pass_fds: tuple[int, ...] = ()) -> None:
        self.run(["ip", "-batch", "-"], "\n".join(lines), pass_fds)

    def run(self, argv: list[str], text: str = "", pass_fds: tuple[int, ...] = ()) -> str:
        done = self.call(
            lambda: subprocess.run(
                argv, input=text, text=True, capture_output=True, pass_fds=pass_fds, timeout=TIMEOUT_S, check=False
            )
        )
        if done.returncode != 0:
            raise PlatformFault(f"{argv}: {done.stderr}")
        return done.stdout

    def interfaces(self) -> set[str]:
        return self.call(lambda: {name for _, name in socket.if_nameindex()})

    def addresses(self) -> list[str]:
        """Return the addresses that are not loopback."""
        own = [route.block for route in self.call(netlink.routes) if route.local]
        return [str(block.network_address) for block in own if not block.is_loopback and block.prefixlen in (32, 128)]

    def reach(self, address: str, port: int = PORT) -> str:
        """Connect and return the address that the other side saw, or the name of the error."""
        return self.call(lambda: _dial(address, port, 5.0))

    def hears_nothing_from(self, address: str) -> bool:
        """Whether packets to the address are dropped silently; an answer would take well under a millisecond."""
        return self.call(lambda: _dial(address, PORT, 0.3)) == "ETIMEDOUT"

    def close(self) -> None:
        os.close(self.fd)


class Listener:
    """Answers each connection, and on port 53 each datagram, with the address it came from."""

    def __init__(self, namespace: Namespace, port: int) -> None:
        self._tcp = namespace.call(lambda: socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True))
        self._udp = namespace.call(lambda: _datagrams(port if port == DNS_PORT else 0))
        self._end_read, self._end_write = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        waiting = [self._tcp.fileno(), self._udp.fileno(), self._end_read]
        while self._end_read not in (ready := select.select(waiting, [], [])[0]):
            with contextlib.suppress(OSError):
                self._answer(ready)

    def _answer(self, ready: list[int]) -> None:
        if self._tcp.fileno() in ready:
            connection, peer = self._tcp.accept()
            with connection:
                connection.sendall(_shown(peer[0]))
        if self._udp.fileno() in ready:
            _, peer = self._udp.recvfrom(100)
            self._udp.sendto(_shown(peer[0]), peer)

    def close(self) -> None:
        os.write(self._end_write, b"x")
        self._thread.join(TIMEOUT_S)
        self._tcp.close()
        self._udp.close()
        os.close(self._end_read)
        os.close(self._end_write)


def _datagrams(port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sock.bind(("::", port))
    return sock


def _shown(address: str) -> bytes:
    return address.removeprefix("::ffff:").encode()


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
    thread.join(TIMEOUT_S)
    if errors:
        raise errors[0]
    if not results:
        raise PlatformFault(f"not finished within {TIMEOUT_S:g} s")
    return results[0]


@contextlib.contextmanager
def loop_in(namespace: Namespace, new_loop: NewLoop) -> Iterator[asyncio.AbstractEventLoop]:
    loop = new_loop()

    def serve() -> None:
        namespaces.setns(namespace.fd, namespaces.NEW_NET)
        asyncio.set_event_loop(loop)
        loop.run_forever()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(TIMEOUT_S)
        loop.close()


def _dial(address: str, port: int, wait_s: float) -> str:
    try:
        with socket.create_connection((address, port), timeout=wait_s) as connection:
            return connection.recv(100).decode()
    except TimeoutError:
        return "ETIMEDOUT"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
