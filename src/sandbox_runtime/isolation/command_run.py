"""One command from its order to its outcome, seen from the server.

The event loop drains output from the start. Wall, output and cpu limits stop the command by asking init to kill all processes;
if init does not answer in time, the whole box is killed. The outcome is made after init's report, which it sends when no
process of the command is left.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable
from typing import Protocol

from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.isolation import pipes
from sandbox_runtime.isolation.capture import Capture
from sandbox_runtime.isolation.channel import Channel
from sandbox_runtime.isolation.clock import Clock, Timer
from sandbox_runtime.isolation.inside import wire
from sandbox_runtime.isolation.kernel.cgroup.group import Group, GroupUsage
from sandbox_runtime.isolation.outcomes import CommandEnd, make_outcome
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.isolation.seccomp_listener import SeccompListener
from sandbox_runtime.model import Command, Limits, Outcome

KILL_GRACE_S = 5.0
"""How long init may take to end a command before the whole box is killed."""
CPU_CHECK_S = 0.05


class CommandHost(Protocol):
    """What a running command needs of its box."""

    orders: Channel
    reports: Channel
    keep_bytes: int
    label: str
    seccomp_listener: SeccompListener
    clock: Clock

    def send_signal(self, number: int) -> None:
        """Send a signal to the command's first process; SIGKILL goes to all its processes."""
        ...

    def last_process(self) -> int | None:
        """Return a new descriptor that becomes readable when the last process is gone, or None for a reusable box."""
        ...

    def disk_usage(self) -> tuple[int | None, int | None, bool]:
        """Return bytes and files in use (None if not counted), and whether either reached its limit."""
        ...

    def limit(self, limits: Limits) -> bool:
        """Change the limits of the command. Returns False if that is not possible."""
        ...

    def kill_now(self) -> None: ...

    def command_ended(self, *, box_alive: bool) -> None: ...


class CommandRun:
    def __init__(
        self, host: CommandHost, command: Command, group: Group, sink: Sink | None, interactive: bool, control: bool = False
    ) -> None:
        self._host = host
        self._limits = command.limits
        self._group = group
        self._sink = sink
        self._interactive = interactive
        self.control: socket.socket | None = None
        self._with_control = control
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[wire.Message | None] = self._loop.create_future()
        self._outcome: Outcome | None = None
        self._stop_reason: str | None = None
        self._timers: dict[str, Timer | asyncio.TimerHandle] = {}
        self._stdin = -1
        self._last = -1
        self._pending = memoryview(command.stdin or b"")
        self.on_stdin_drained: Callable[[], None] | None = None
        self._captures: dict[str, Capture] = {}
        self._used_before = GroupUsage()
        self._started = 0.0
        self._wall_s = 0.0

    def begin(self, order: wire.Message) -> None:
        passed: list[int] = []
        try:
            program_end, self._stdin = pipes.stdin_pipe()
            passed.append(program_end)
            for name in ("stdout", "stderr"):
                program_end, ours = pipes.output_pipe()
                passed.append(program_end)
                self._captures[name] = Capture(ours, self._host.keep_bytes)
            if self._with_control:
                self.control, far_end = socket.socketpair()
                self.control.setblocking(False)
                passed.append(far_end.detach())
            self._watch()
            self._host.orders.send(order, passed)
        except BaseException:
            self._stop_watching()
            self._close_descriptors()
            raise
        finally:
            for descriptor in passed:
                os.close(descriptor)

    def _watch(self) -> None:
        """Start timers and readers. Runs before the order is sent: the kernel may delay the woken process while the waker is
        busy."""
        loop, limits = self._loop, self._limits
        self._started = self._host.clock.time()
        self._write_stdin()
        for name, capture in self._captures.items():
            loop.add_reader(capture.descriptor, self._drain, name, capture)
        loop.add_reader(self._host.reports.fileno(), self._on_report)
        self._host.seccomp_listener.watch()
        self._start_wall_timer(limits.wall_s)
        if limits.cpu_s is not None:
            self._check_cpu_later(limits.cpu_s, limits.cpu_s)

    def _stop_watching(self) -> None:
        self._loop.remove_reader(self._host.reports.fileno())
        for timer in self._timers.values():
            timer.cancel()
        for capture in self._captures.values():
            self._loop.remove_reader(capture.descriptor)

    async def wait(self) -> Outcome:
        """Wait for the outcome. It is made as soon as the command ends, so the box is free even if nobody waits."""
        return self._outcome_for(await asyncio.shield(self._ended))

    def abandon(self) -> None:
        """End the command because the box is dead, and release everything it holds."""
        if not self._ended.done():
            self._finish(None)
        self._outcome_for(self._ended.result())

    def _outcome_for(self, report: wire.Message | None) -> Outcome:
        if self._outcome is None:
            self._outcome = self._make_outcome(report)
        return self._outcome

    def send_signal(self, number: int) -> None:
        if not 1 <= number <= signal.SIGRTMAX:
            raise InvalidRequest(f"{number} is not a signal; use 1 to {int(signal.SIGRTMAX)}")
        if not self._ended.done():
            self._host.send_signal(number)

    def cancel(self) -> None:
        self._stop("cancel")

    def feed(self, data: bytes) -> None:
        if not self._interactive or self._stdin < 0:
            raise InvalidRequest("the standard input of this command is closed")
        self._pending = memoryview(bytes(self._pending) + data)
        self._write_stdin()

    @property
    def unread_bytes(self) -> int:
        return len(self._pending)

    def pause_output(self, stream: str, paused: bool) -> None:
        capture = self._captures[stream]
        if self._ended.done() or capture.descriptor < 0:
            return
        if paused:
            self._loop.remove_reader(capture.descriptor)
        else:
            self._loop.add_reader(capture.descriptor, self._drain, stream, capture)

    def end_input(self) -> None:
        self._interactive = False
        self._write_stdin()

    def limit(self, limits: Limits) -> bool:
        if not self._host.limit(limits):
            return False
        self._limits = limits
        return True

    def restart(self, wall_s: float) -> None:
        self._limits = self._limits.replace(wall_s=wall_s)
        self._used_before = self._group.usage()
        self._started = self._host.clock.time()
        self._timers["wall"].cancel()
        self._start_wall_timer(wall_s)

    def _start_wall_timer(self, wall_s: float) -> None:
        """Uses the clock of the box, so that time paused does not count."""
        self._timers["wall"] = self._host.clock.call_later(wall_s, lambda: self._stop("wall"))

    def drain(self) -> None:
        if not self._ended.done():
            for name, capture in self._captures.items():
                while piece := capture.read():
                    self._emit(name, piece)

    def _write_stdin(self) -> None:
        """Write as much as the pipe accepts, and the rest when it has room. A program that does not read its input is not an
        error."""
        try:
            while self._pending:
                written = os.write(self._stdin, self._pending)
                self._pending = self._pending[written:]
        except BlockingIOError:
            self._loop.add_writer(self._stdin, self._write_stdin)
            return
        except OSError:
            self._pending = memoryview(b"")
            self._interactive = False
        if self._stdin >= 0:
            self._loop.remove_writer(self._stdin)
            if not self._interactive:
                self._close_stdin()
        if self.on_stdin_drained is not None:
            self.on_stdin_drained()

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            self._loop.remove_writer(self._stdin)
            os.close(self._stdin)
            self._stdin = -1

    def _drain(self, name: str, capture: Capture) -> None:
        piece = capture.read()
        if piece is None:
            return
        if not piece:
            self._loop.remove_reader(capture.descriptor)
            return
        self._emit(name, piece)
        if self._output_bytes() > self._limits.output_bytes:
            self._stop("output")

    def _emit(self, name: str, piece: bytes) -> None:
        """Pass output to the sink. A sink that raises is dropped; the command continues."""
        try:
            if self._sink is not None:
                self._sink(name, piece)
        except Exception as error:
            self._sink = None
            self._loop.call_exception_handler({"message": "a sink for the output of a command raised", "exception": error})

    def _output_bytes(self) -> int:
        return sum(capture.total_bytes for capture in self._captures.values())

    def _check_cpu_later(self, limit_s: float, left_s: float) -> None:
        delay = max(CPU_CHECK_S, left_s / max(self._limits.cpu_cores, 1.0))
        self._timers["cpu"] = self._loop.call_later(delay, self._check_cpu, limit_s)

    def _check_cpu(self, limit_s: float) -> None:
        if self._ended.done():
            return
        left_s = limit_s - (self._group.cpu_s() or 0.0)
        if left_s <= 0:
            self._stop("cpu")
        else:
            self._check_cpu_later(limit_s, left_s)

    def _stop(self, reason: str) -> None:
        if self._stop_reason is not None or self._ended.done():
            return
        self._stop_reason = reason
        self._host.send_signal(signal.SIGKILL)
        self._timers["grace"] = self._loop.call_later(KILL_GRACE_S, self._host.kill_now)

    def _on_report(self) -> None:
        try:
            received = self._host.reports.receive_nowait()
        except PlatformFault:
            self._host.kill_now()
            return
        if received is None:
            return
        for descriptor in received.descriptors:
            os.close(descriptor)
        last = self._host.last_process()
        if last is None or received.message is None:
            self._finish(received.message)
        else:
            self._last = last
            self._loop.remove_reader(self._host.reports.fileno())
            self._loop.add_reader(last, self._finish, received.message)

    def _finish(self, report: wire.Message | None) -> None:
        """End the command. report is None if init died."""
        self._wall_s = self._host.clock.time() - self._started
        if self._last >= 0:
            self._loop.remove_reader(self._last)
            os.close(self._last)
            self._last = -1
        self._stop_watching()
        for name, capture in self._captures.items():
            self._drain_rest(name, capture)
        self._close_stdin()
        self._pending = memoryview(b"")
        if self.on_stdin_drained is not None:
            self.on_stdin_drained()
        if not self._ended.done():
            self._ended.set_result(report)
            self._outcome_for(report)

    def _drain_rest(self, name: str, capture: Capture) -> None:
        """Read what is left in the pipe. No writer exists any more."""
        while piece := capture.read():
            self._emit(name, piece)

    def _close_descriptors(self) -> None:
        self._close_stdin()
        for capture in self._captures.values():
            capture.close()
        if self.control is not None:
            self.control.close()

    def _make_outcome(self, report: wire.Message | None) -> Outcome:
        failure = self._start_failure()
        try:
            stdout, stderr = (self._captures[name].output() for name in ("stdout", "stderr"))
            return make_outcome(self._command_end(report, failure), stdout, stderr, self._host.label)
        finally:
            self._close_descriptors()
            self._host.seccomp_listener.close()
            self._host.command_ended(box_alive=report is not None)

    def _command_end(self, report: wire.Message | None, failure: str | None) -> CommandEnd:
        return CommandEnd(
            report=report,
            used=self._group.usage(),
            used_before=self._used_before,
            failure=failure,
            stop_reason=self._stop_reason,
            wall_s=self._wall_s,
            output_bytes=self._output_bytes(),
            limits=self._limits,
            disk=self._host.disk_usage(),
            denied=self._host.seccomp_listener.counts,
        )

    def _start_failure(self) -> str | None:
        with contextlib.suppress(PlatformFault):
            received = self._host.orders.receive_nowait()
            if received is not None and received.message is not None and "not_started" in received.message:
                return str(received.message["not_started"])
        return None
