"""The process that becomes the guest's program."""

from __future__ import annotations

import os
import socket
import sys

# The module behind `signal`, without its enums: this runs in every box.
from _signal import (  # type: ignore[import-not-found]
    SIG_DFL,
    SIGCHLD,
    SIGHUP,
    SIGINT,
    SIGPIPE,
    SIGTERM,
    SIGXFSZ,
    default_int_handler,
    set_wakeup_fd,
)
from _signal import signal as _set_signal
from dataclasses import dataclass
from fcntl import F_DUPFD_CLOEXEC, fcntl
from typing import NoReturn

from sandbox_runtime.isolation.inside import wire
from sandbox_runtime.isolation.inside.setup import Setup
from sandbox_runtime.isolation.kernel import capabilities, descriptors, rlimits, seccomp

_HELLO = wire.encode_for_server({"hello": True})


@dataclass
class Order:
    """A command for a warm interpreter. `env` is added to the existing environment."""

    argv: list[str]
    env: dict[str, str]
    report_pages: bool = False
    keep_alive: object = None
    """Objects that must not be freed before the program begins."""


class Runner:
    def __init__(self, orders: socket.SocketType, program: bytes | None, setup: Setup) -> None:
        self.orders = orders
        self.program = program
        self.setup = setup

    def wait_for_order(self, passed: list[int]) -> Order:
        """Prepare, wait for an order and apply it. Returns only if the order is to be run warm.

        passed: descriptors to send to the server with the hello, before the seccomp listener.
        """
        try:
            listener = self._prepare()
        except Exception as error:
            self.fail(error)
        wire.send(self.orders, _HELLO, passed + listener)
        for descriptor in passed + listener:
            os.close(descriptor)
        data, streams = wire.receive(self.orders)
        if not data or len(streams) not in (3, 4):
            os._exit(1)
        message = wire.decode_from_server(data)
        try:
            self._apply_order(message, streams)
        except Exception as error:
            self.fail(error)
        if message.get("warm"):
            self._close_descriptors(len(streams))
            keep_alive = (self, message, data, streams, passed, listener)
            return Order(message["argv"], message["env"], self.setup.report_pages, keep_alive)
        self._execute(message, len(streams))

    def _prepare(self) -> list[int]:
        if self.setup.has("session"):
            os.setsid()
        _reset_signals()
        os.umask(0o022)
        _reset_thread_id()
        reseed_random()
        if self.setup.has("rlimits"):
            rlimits.apply(rlimits.ALWAYS)
        capabilities.set_dumpable(True)
        if self.program is None:
            return []
        listener = seccomp.install(self.program, listen=True)
        return [] if listener is None else [listener]

    def _apply_order(self, message: wire.Message, streams: list[int]) -> None:
        """Install the streams and limits. A fourth stream is the command's control socket."""
        if self.orders.fileno() < len(streams):
            self.orders = wire.socket_from_fd(fcntl(self.orders.detach(), F_DUPFD_CLOEXEC, len(streams)))
        for target, stream in enumerate(streams):
            os.dup2(stream, target, inheritable=True)
        self._change_directory(message.get("cwd") or self.setup.workdir)
        if self.setup.has("rlimits"):
            rlimits.apply(message["rlimits"])

    def _change_directory(self, folder: str) -> None:
        try:
            os.chdir(folder)
        except OSError as error:
            raise ValueError(f"cannot enter the working folder {folder!r}: {error.strerror}") from error

    def _close_descriptors(self, first: int) -> None:
        if self.setup.has("descriptors"):
            self.orders.detach()
            descriptors.close_from(first)

    def _execute(self, message: wire.Message, first: int) -> NoReturn:
        if self.setup.has("descriptors"):
            descriptors.close_on_exec_from(first)
        try:
            execute(message["argv"], message["env"])
        except OSError as error:  # its own message names the last folder in which the program was looked for
            self.fail(OSError(error.errno, error.strerror, message["argv"][0]))

    def fail(self, error: Exception) -> NoReturn:
        number, reason = None, str(error)
        if isinstance(error, OSError) and error.filename is not None:
            number, reason = error.errno, f"cannot start {error.filename!r}: {error.strerror}"
        wire.send(self.orders, wire.encode_for_server({"not_started": reason, "errno": number}))
        os._exit(127)


def execute(argv: list[str], env: dict[str, str]) -> NoReturn:
    """Become the program. It finds signals as a shell passes them on, not as this interpreter has set them."""
    for number in (SIGPIPE, SIGXFSZ, SIGINT):
        _set_signal(number, SIG_DFL)
    os.execvpe(argv[0], argv, {**os.environ, **env})


def _reset_signals() -> None:
    """Undo the settings of init: the program must find signals as a fresh interpreter does."""
    set_wakeup_fd(-1)
    for number in (SIGCHLD, SIGTERM, SIGHUP):
        _set_signal(number, SIG_DFL)
    _set_signal(SIGINT, default_int_handler)


def _reset_thread_id() -> None:
    """Refresh the thread id, which our fork does not update."""
    threading = sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._set_native_id()


def reseed_random() -> None:
    """Reseed generators that were seeded in the spawner and would be the same in every box."""
    random = sys.modules.get("random")
    if random is not None:
        random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        process.current_process().authkey = os.urandom(32)
