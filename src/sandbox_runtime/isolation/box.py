"""The server's side of a box: two channels, a pidfd of its init, its files, and one cgroup per command."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sandbox_runtime.errors import Conflict, PlatformFault
from sandbox_runtime.isolation import users
from sandbox_runtime.isolation.channel import Channel, wait_readable
from sandbox_runtime.isolation.clock import Clock
from sandbox_runtime.isolation.command_run import CommandRun
from sandbox_runtime.isolation.deferred_close import DeferredCloser
from sandbox_runtime.isolation.kernel import rlimits
from sandbox_runtime.isolation.kernel.cgroup.group import Group
from sandbox_runtime.isolation.kernel.cgroup.root import CgroupRoot
from sandbox_runtime.isolation.nat import NatLink
from sandbox_runtime.isolation.port import OnStarted, Sink
from sandbox_runtime.isolation.seccomp_listener import SeccompListener
from sandbox_runtime.model import Command, Layer, Limits, Outcome, Policy
from sandbox_runtime.quantities import MIB

OPEN_TIMEOUT_S = 20.0
DEATH_TIMEOUT_S = 10.0
FREEZE_TIMEOUT_S = 10.0
_FREEZE_POLL_S = 0.002
_REMOVE_ATTEMPTS = 1000
_REMOVE_PAUSE_S = 0.005
_UNLIMITED = 1_000_000


@dataclass(frozen=True, slots=True)
class BoxConfig:
    """Settings that a backend gives to each of its boxes."""

    backend: str
    label: str
    workdir: str
    writable: Mapping[str, str]
    keep_bytes: int
    cgroup_root: CgroupRoot
    usual_limits: Limits
    bounded_disk: bool = True
    """Whether the writable area is its own file system, so that its usage figures belong to this box alone."""
    own_user: bool = True
    """Whether no other process runs as this box's user, so that RLIMIT_NPROC counts only the box."""
    freezable: bool = False
    """Whether the box may be paused."""
    warm_python: str | None = None
    """Path of the interpreter that the box was forked from. `warm_python FILE.py …` runs without execve."""
    deferred_closer: DeferredCloser | None = None
    """Where single-use boxes hand over their mount namespace to be closed later."""


class InitBox:
    """A box whose processes speak the protocol of inside/."""

    def __init__(self, box_id: str, policy: Policy, config: BoxConfig, orders: Channel, reports: Channel) -> None:
        """Opens the cgroup of the first command, because its entry descriptors are sent with the request to open the box."""
        self.id = box_id
        self.policy = policy
        self.config = config
        self.backend = config.backend
        self.label = config.label
        self.workdir = config.workdir
        self.writable = config.writable
        self.keep_bytes = config.keep_bytes
        self.orders = orders
        self.reports = reports
        self.files_fd = -1
        self.mount_namespace_fd = -1
        """The mount namespace of a single-use box."""
        self.pidfd = -1
        self.runner_pidfd = -1
        self.seccomp_listener = SeccompListener(None)
        self.on_close: list[Callable[[], object]] = []
        self.is_outdated: Callable[[], bool] = lambda: False
        self.link: NatLink | None = None
        self.clock = Clock()
        self._paused = False
        self._runner_ready = False
        """Whether the group holds a runner or a started command, so that freezing it works."""
        self._commands = 0
        self._group = self._open_group()
        self._busy = False
        self._used = False
        self._alive = True
        self._running: CommandRun | None = None
        self._closing: asyncio.Future[None] | None = None

    async def wait_ready(self) -> None:
        """Wait until init has applied all layers and the first runner is ready."""
        if not self._is_single_use:
            received = await self.reports.receive(OPEN_TIMEOUT_S)
            if received.message is None or not received.message.get("ready"):
                raise PlatformFault(f"cannot open a box: {(received.message or {}).get('fault', 'its init died')}")
            self.files_fd, own_process = received.descriptors
            self.set_pidfd(own_process)
        await self._receive_hello()
        self._set_limits(self.config.usual_limits)
        if self._is_single_use and not self.config.freezable:
            self._group.keep_stats_open()
        await self._set_runner_ready()

    @property
    def outdated(self) -> bool:
        return self.is_outdated()

    def set_pidfd(self, pidfd: int) -> None:
        """Keep the pidfd of init. It can arrive by two ways; the first one wins."""
        if self.pidfd < 0:
            self.pidfd = pidfd
        else:
            os.close(pidfd)

    async def _receive_hello(self) -> None:
        hello = await self.orders.receive(OPEN_TIMEOUT_S)
        if hello.message is None or "hello" not in hello.message:
            raise PlatformFault(f"cannot open a box: {(hello.message or {}).get('not_started', 'its runner died')}")
        descriptors = hello.descriptors
        if self._is_single_use:
            self.files_fd, self.mount_namespace_fd = descriptors.pop(0), descriptors.pop(0)
        self.seccomp_listener = SeccompListener(descriptors.pop() if descriptors else None)

    @property
    def _is_single_use(self) -> bool:
        """Whether the box has no init of ours: its runner is a child of the spawner."""
        return self.runner_pidfd >= 0

    def _open_group(self) -> Group:
        self._commands += 1
        return self.config.cgroup_root.open_group(f"{self.id}_{self._commands}", freezable=self.config.freezable)

    @contextlib.contextmanager
    def cgroup_entries(self) -> Iterator[list[int]]:
        """Yield descriptors that let the next runner enter its cgroup, and close them afterwards."""
        opened = self._group.open_entry_files()
        try:
            yield opened
        finally:
            for descriptor in opened:
                os.close(descriptor)

    async def start(
        self, command: Command, *, sink: Sink | None = None, interactive: bool = False, control: bool = False
    ) -> CommandRun:
        if self._used and self.policy.single_use:
            raise Conflict("this box is single-use and has already run its command")
        if self._busy or not self._alive:
            raise Conflict("a box runs one command at a time" if self._alive else "the box is closed")
        self._busy = True
        try:
            if self._used:
                await self._start_next_runner()
            self._used = True
            self._set_limits(command.limits)
            running = CommandRun(self, command, self._group, sink, interactive, control)
            running.begin(self._order(command))
            self._running = running
        except BaseException:
            self._busy = False
            raise
        return running

    async def run(self, command: Command, *, sink: Sink | None = None, on_started: OnStarted | None = None) -> Outcome:
        running = await self.start(command, sink=sink, interactive=on_started is not None)
        try:
            if on_started is not None:
                on_started(running)
            return await running.wait()
        except asyncio.CancelledError:
            running.cancel()
            raise

    async def _start_next_runner(self) -> None:
        self._runner_ready = False
        await self._remove_group()
        self._group = self._open_group()
        with self.cgroup_entries() as cgroup_entries:
            self.reports.send({"next": True}, cgroup_entries)
        await self._receive_hello()
        await self._set_runner_ready()

    async def pause(self) -> None:
        """Freeze the box.

        A runner that is still starting must say hello first: if it were frozen earlier, it would look dead.
        """
        if self._paused or self._closing is not None or not self._alive:
            return
        self._paused = True
        self.clock.pause()
        try:
            if self._runner_ready:
                await self._freeze()
        except BaseException:
            self.resume()
            raise

    def resume(self) -> None:
        if not self._paused:
            return
        self._paused = False
        if self._runner_ready:
            with contextlib.suppress(FileNotFoundError):  # the last command ended and its group was removed
                self._group.thaw()
        self.clock.resume()

    async def _set_runner_ready(self) -> None:
        self._runner_ready = True
        if self._paused:
            await self._freeze()

    async def _freeze(self) -> None:
        try:
            self._group.freeze()
            deadline = asyncio.get_running_loop().time() + FREEZE_TIMEOUT_S
            while self._paused and not self._group.is_frozen():
                if asyncio.get_running_loop().time() > deadline:
                    raise PlatformFault(f"processes of {self.id} did not freeze within {FREEZE_TIMEOUT_S:g} s")
                await asyncio.sleep(_FREEZE_POLL_S)
        except FileNotFoundError:  # the box was closed meanwhile
            return
        except OSError as error:
            raise PlatformFault(f"cannot freeze the processes of {self.id}: {error.strerror}") from error

    def limit(self, limits: Limits) -> bool:
        """Change the limits of the running command. Without cgroups this is impossible: only a process itself can change its
        rlimits."""
        if not {"memory", "pids", "cpu"} <= self.config.cgroup_root.controllers:
            return False
        try:
            self._set_limits(limits)
        except OSError:  # it already uses more
            return False
        return True

    def _set_limits(self, limits: Limits) -> None:
        without = self.policy.without
        self._group.limit(
            memory_bytes=None if Layer.memory in without else limits.memory_bytes,
            processes=_UNLIMITED if Layer.processes in without else limits.processes,
            cpu_cores=_UNLIMITED if Layer.cpu in without else limits.cpu_cores,
        )

    def _order(self, command: Command) -> dict[str, object]:
        limits, controllers = command.limits, self.config.cgroup_root.controllers
        return {
            "argv": list(command.argv),
            "env": dict(command.env),
            "cwd": command.cwd,
            "warm": self._can_run_warm(command),
            "rlimits": rlimits.plan(
                file_bytes=limits.file_bytes,
                open_files=limits.open_files,
                cpu_s=limits.cpu_s,
                processes=None if "pids" in controllers else limits.processes + self._other_tasks_of_user(),
                memory_bytes=None if "memory" in controllers else limits.memory_bytes,
            ),
        }

    def _other_tasks_of_user(self) -> int:
        return 0 if self.config.own_user else users.count_tasks(os.geteuid())

    def _can_run_warm(self, command: Command) -> bool:
        """Whether the command is `python FILE.py` and sets no variable that an interpreter reads at start-up."""
        argv = command.argv
        if self.config.warm_python is None or argv[0] != self.config.warm_python:
            return False
        plain = len(argv) > 1 and argv[1].endswith(".py") and not argv[1].startswith("-")
        return plain and not any(name.startswith(_READ_AT_STARTUP) for name in command.env)

    def disk_usage(self) -> tuple[int | None, int | None, bool]:
        if self.files_fd < 0 or not self.config.bounded_disk:
            return None, None, False
        area = os.fstatvfs(self.files_fd)
        full = _is_full(area) or (area.f_files > 0 and area.f_ffree == 0)
        return (area.f_blocks - area.f_bfree) * area.f_frsize, area.f_files - area.f_ffree, full

    def pid(self) -> int:
        """Return the pid of a process that is in all namespaces of the box. Valid only while we hold its pidfd."""
        pidfd = self.runner_pidfd if self._is_single_use else self.pidfd
        with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
            return int(next(line.split()[1] for line in file if line.startswith("Pid:")))

    def last_process(self) -> int | None:
        return os.dup(self.pidfd) if self._is_single_use and self.pidfd >= 0 else None

    def send_signal(self, number: int) -> None:
        if self._is_single_use:
            if number == signal.SIGKILL:
                self.kill_now()
            else:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self.runner_pidfd, number)
            return
        try:
            self.reports.send({"signal": int(number)})
        except PlatformFault:
            self.kill_now()
        if number == signal.SIGKILL:
            self._thaw_killed()

    def command_ended(self, *, box_alive: bool) -> None:
        self._busy = False
        self._alive = self._alive and box_alive

    def kill_now(self) -> None:
        self._alive = False
        if self.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        self._thaw_killed()

    def _thaw_killed(self) -> None:
        """Let a frozen box die. A frozen process dies only after thawing; it is killed first, so it runs no further
        instruction."""
        if self._paused:
            self._group.kill()
            self.resume()

    async def close(self) -> None:
        """Close the box. Concurrent callers wait for the first one; cancelling a caller does not leave the box half closed."""
        if self._closing is None and self._has_ended and self._remove_group_now():
            self._closing = asyncio.get_running_loop().create_future()
            self._closing.set_result(None)
            try:
                self._release()
            finally:
                await self._release_mounts()
        elif self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    @property
    def _has_ended(self) -> bool:
        """Whether a single-use box has ended. It reports the end of its command only after its last process is gone."""
        return self._is_single_use and self._used and self._alive and not self._busy and self.link is None

    def _remove_group_now(self) -> bool:
        """Remove the group without waiting. On failure _close() tries again and reports the error."""
        try:
            return self._group.remove()
        except OSError:
            return False

    async def _close(self) -> None:
        if self._running is not None:
            self._running.cancel()
        self.kill_now()
        try:
            if self.pidfd >= 0:
                await wait_readable(self.pidfd, DEATH_TIMEOUT_S)
        finally:
            if self._running is not None:
                self._running.abandon()
            try:
                await self._remove_group()
                if self.link is not None:
                    await self.link.close()
            finally:
                self._release()
                await self._release_mounts()

    async def _remove_group(self) -> None:
        """Remove the group, waiting for processes that are still exiting. Usually the first attempt succeeds."""
        for _ in range(_REMOVE_ATTEMPTS):
            if self._group.remove():
                return
            self._group.kill()
            await asyncio.sleep(_REMOVE_PAUSE_S)
        raise PlatformFault(f"processes of {self.id} cannot be killed")

    async def _release_mounts(self) -> None:
        namespace, self.mount_namespace_fd = self.mount_namespace_fd, -1
        if namespace >= 0:
            assert self.config.deferred_closer is not None
            await self.config.deferred_closer.close(namespace)

    def _release(self) -> None:
        self.orders.close()
        self.reports.close()
        self.seccomp_listener.close()
        for descriptor in (self.pidfd, self.runner_pidfd, self.files_fd):
            if descriptor >= 0:
                os.close(descriptor)
        self.pidfd = self.runner_pidfd = self.files_fd = -1
        while self.on_close:
            self.on_close.pop()()
        self._running = None  # break the reference cycle, which would keep the output in memory until the garbage collector runs


_READ_AT_STARTUP = ("PYTHON", "LD_", "LANG", "LC_", "GLIBC_", "MALLOC_", "OMP_", "OPENBLAS_", "MKL_", "MPL", "TZDIR")


def _is_full(area: os.statvfs_result) -> bool:
    """Whether the file system refuses more data. ext4 keeps a reserve and allocates in large extents, so it refuses the last
    blocks."""
    on_disk = area.f_bavail < area.f_bfree
    return area.f_bavail * area.f_frsize < MIB if on_disk else area.f_bfree == 0
