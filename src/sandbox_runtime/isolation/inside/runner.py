"""The process that becomes the guest's program."""

from __future__ import annotations

import os
import signal
import socket
from dataclasses import dataclass

from sandbox_runtime.isolation.inside import wire
from sandbox_runtime.isolation.inside.setup import Setup
from sandbox_runtime.isolation.kernel import capabilities, descriptors, rlimits, seccomp


@dataclass
class Order:
    """What a warm interpreter is to run in place. env is what the caller adds to the environment that is there already."""

    argv: list[str]
    env: dict[str, str]


class Runner:
    def __init__(self, orders: socket.socket, relay: socket.socket, program: bytes | None, setup: Setup) -> None:
        self.orders = orders
        self.relay = relay
        self.program = program
        self.setup = setup

    def take_order(self) -> Order:
        """Stand by with every layer on that needs no order, wait for one, take on the rest; returns only to run it warm."""
        try:
            self._stand_by()
        except Exception as error:
            self._fail(error)
        wire.send(self.orders, {"hello": True})
        message, streams = wire.receive(self.orders)
        if message is None or len(streams) != 3:
            os._exit(1)
        try:
            self._become(message, streams)
        except Exception as error:
            self._fail(error)
        if message.get("warm"):
            self._close_descriptors()
            return Order(message["argv"], message["env"])
        self._execute(message)
        raise AssertionError("unreachable")

    def _stand_by(self) -> None:
        if self.setup.has("session"):
            os.setsid()
        _default_signals()
        os.umask(0o022)
        os.environ.update(self.setup.base_env)
        if self.setup.has("environment"):
            for name in [name for name in os.environ if name not in self.setup.base_env]:
                del os.environ[name]
        if self.setup.has("rlimits"):
            rlimits.apply(rlimits.ALWAYS)
        capabilities.set_dumpable(True)
        if self.program is not None:
            self._filter(self.program)

    def _filter(self, program: bytes) -> None:
        listener = seccomp.install(program, listen=True)
        if listener is not None:
            socket.send_fds(self.relay, [b"l"], [listener])
            os.close(listener)

    def _become(self, message: wire.Message, streams: list[int]) -> None:
        for target, stream in enumerate(streams):
            os.dup2(stream, target, inheritable=True)
        os.chdir(message.get("cwd") or self.setup.workdir)
        if self.setup.has("rlimits"):
            rlimits.apply(message["rlimits"])

    def _close_descriptors(self) -> None:
        if self.setup.has("descriptors"):
            self.orders.detach()
            self.relay.detach()
            descriptors.close_from(3)

    def _execute(self, message: wire.Message) -> None:
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if self.setup.has("descriptors"):
            descriptors.close_on_exec_from(3)
        try:
            os.execvpe(message["argv"][0], message["argv"], {**os.environ, **message["env"]})
        except OSError as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        number = error.errno if isinstance(error, OSError) else None
        wire.send(self.orders, {"not_started": str(error), "errno": number})
        os._exit(127)


def _default_signals() -> None:
    """Undo init's settings: what follows shall find signals as a freshly started interpreter does."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
