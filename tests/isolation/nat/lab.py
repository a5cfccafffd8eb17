"""The lab of the attack corpus, with stand-ins for boxes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
from collections.abc import Iterator

from sandbox_runtime.doctor import network_lab as network_lab
from sandbox_runtime.doctor.network_lab_parts import PORT, TIMEOUT_S, Namespace, NewLoop
from sandbox_runtime.isolation.kernel import network


class Box(Namespace):
    """A stand-in for a box: a process that sleeps in its own network namespace."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", "the stand-in box did not start"
        self.pid = process.pid
        super().__init__(network.namespace_of(self.pid))

    def end(self) -> None:
        """The process; the namespace goes too unless something else still holds it."""
        self._process.kill()
        self._process.communicate(timeout=TIMEOUT_S)

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


class Lab(network_lab.Lab):
    def box(self, *prefix: str) -> Box:
        argv = [*(prefix or ("unshare", "--net")), "sh", "-c", "ip link set lo up && echo ready && exec sleep 300"]
        process = self.host.call(lambda: subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
        self._undo.callback(process.kill)
        return self._undo.enter_context(contextlib.closing(Box(process)))

    def tables(self) -> str:
        return self.host.run(["nft", "list", "ruleset"])


@contextlib.contextmanager
def open_lab(new_loop: NewLoop = asyncio.new_event_loop) -> Iterator[Lab]:
    with contextlib.ExitStack() as undo:
        yield Lab(undo, new_loop)
