"""pid 1 of a reusable box: forks runners, reaps, forwards signals, kills everything on request, and dies with the box."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
from signal import set_wakeup_fd

from sandbox_runtime.isolation.inside import layers, runner, wire
from sandbox_runtime.isolation.inside.setup import Setup
from sandbox_runtime.isolation.kernel import descriptors, fork, reaper, seccomp
from sandbox_runtime.isolation.kernel.cgroup import tree

_READY = wire.encode_for_server({"ready": True})


class Init:
    """run() returns only in a runner that received a warm order; every other process ends in _exit."""

    def __init__(
        self, orders: socket.SocketType, reports: socket.SocketType, setup: Setup, filter_program: bytes, entries: list[int]
    ) -> None:
        self.orders = orders
        self.reports = reports
        self.entries = entries
        self.setup = setup
        self.filter = filter_program if setup.filtered else None
        self.wake, self.wake_in = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self.poll = select.poll()

    def run(self) -> runner.Order | None:
        try:
            self._set_up()
        except Exception as error:
            wire.send(self.reports, wire.encode_for_server({"fault": f"{type(error).__name__}: {error}"}))
            os._exit(1)
        while True:
            order = self._run_command()
            if order is not None:
                return order

    def _set_up(self) -> None:
        own = [self.orders.fileno(), self.reports.fileno(), self.wake, self.wake_in, *self.entries]
        if self.setup.has("descriptors"):
            descriptors.close_except(own)
        if self.setup.own_pids is False:
            reaper.adopt_orphans()
        files = self._enter_box()
        layers.drop_privileges(self.setup)
        own_process = os.pidfd_open(os.getpid())
        wire.send(self.reports, _READY, [files, own_process])
        os.close(files)
        os.close(own_process)
        self.poll.register(self.reports, select.POLLIN)
        self.poll.register(self.wake, select.POLLIN)
        set_wakeup_fd(self.wake_in, warn_on_full_buffer=False)

    def _enter_box(self) -> int:
        """Apply the layers and return a descriptor of the writable area."""
        if self.setup.backend == "namespaces":
            files = layers.enter_new_root(self.setup, self._wait_for_network)
            layers.hide_cgroups(self.setup)
            return files
        if self.setup.backend == "bubblewrap":
            return layers.complete_bubblewrap_root(self.setup, self._wait_for_network)
        os.chdir(self.setup.workdir)
        return os.open(self.setup.files, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _wait_for_network(self) -> str:
        own_process = os.pidfd_open(os.getpid())
        wire.send(self.reports, wire.NETWORK_NEEDED, [own_process])
        os.close(own_process)
        data, _ = wire.receive(self.reports)
        if not data:
            os._exit(1)
        return str(wire.decode_from_server(data)["resolver"])

    def _run_command(self) -> runner.Order | None:
        pid = fork.fork()
        if pid == 0:
            tree.enter(self.entries)
            return runner.Runner(self.orders, self.filter, self.setup).wait_for_order([])
        self._close_entries()
        _Command(self, pid).watch()
        self._wait_for_next()
        return None

    def _wait_for_next(self) -> None:
        """Wait until the server requests another runner; exit if it closes the channel instead."""
        data, self.entries = wire.receive(self.reports)
        if not data or not wire.decode_from_server(data).get("next"):
            os._exit(0)

    def _close_entries(self) -> None:
        """Close the cgroup entries. Their holder can move processes into the command's cgroup; only the runner may."""
        for descriptor in self.entries:
            os.close(descriptor)
        self.entries = []


def enter(orders: socket.SocketType, reports: socket.SocketType) -> None:
    """Run the init of a box that another program created. The setup arrives as the first message on `reports`. Never returns."""
    data, entries = wire.receive(reports)
    if not data:
        os._exit(1)
    setup = Setup.from_message(wire.decode_from_server(data))
    prepare_signals()
    set_environment(setup)
    Init(orders, reports, setup, seccomp.build(notify=True), entries).run()
    raise AssertionError("received a warm order in a box without a warm interpreter")


class _Command:
    """One command as init sees it."""

    def __init__(self, init: Init, pid: int) -> None:
        self.init = init
        self.pid = pid
        self.reaped = reaper.Reaped()
        self.status: int | None = None

    def watch(self) -> None:
        while self.status is None:
            for descriptor, _ in self.init.poll.poll():
                if descriptor == self.init.wake:
                    os.read(descriptor, 4096)
                    self._reap()
                else:
                    self._handle_message()
        reaper.kill_others(own_namespace=self.init.setup.own_pids, reaped=self.reaped)
        self._report(self.status)

    def _reap(self) -> None:
        while (dead := self.reaped.collect(os.WNOHANG)) is not None:
            if dead[0] == self.pid:
                self.status = dead[1]

    def _handle_message(self) -> None:
        data, _ = wire.receive(self.init.reports)
        if not data:
            reaper.kill_others(own_namespace=self.init.setup.own_pids, reaped=self.reaped)
            os._exit(0)
        number = int(wire.decode_from_server(data).get("signal", 0))
        if number == signal.SIGKILL:
            self._kill_all()
        elif number:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _kill_all(self) -> None:
        """Kill all processes at once, so that none survives to start new ones. SIGCHLD reports the end."""
        if self.init.setup.own_pids:
            reaper.signal_everyone()
        else:
            reaper.signal_descendants()

    def _report(self, status: int) -> None:
        reaped = self.reaped
        try:
            wire.send(self.init.reports, wire.end_report(status, reaped.user_s, reaped.system_s, reaped.memory_peak_bytes))
        except OSError:
            os._exit(0)


def prepare_signals() -> None:
    """Call before init is forked, so that it costs init no memory. Only SIGCHLD has a handler, so no other signal from inside
    the box reaches pid 1."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, _ignore)


def set_environment(setup: Setup) -> None:
    """Set the environment of the guest's program, except what its caller adds. Call before the fork, for the same reason."""
    if setup.has("environment"):
        os.environ.clear()
    os.environ.update(setup.base_env)


def _ignore(number: int, frame: object) -> None:
    """SIGCHLD needs a handler so that the wake-up descriptor is written."""
