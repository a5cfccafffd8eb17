"""Gate and spawner; see the package docstring for the theory of operation."""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from signal import set_wakeup_fd
from typing import Any

from sandbox_runtime.isolation.inside import area_mounts, init, injected_modules, layers, process_image, single_use, wire
from sandbox_runtime.isolation.inside.runner import Order
from sandbox_runtime.isolation.inside.setup import Setup
from sandbox_runtime.isolation.inside.warm_interpreter import WarmInterpreter
from sandbox_runtime.isolation.inside.warm_pages import WarmPages
from sandbox_runtime.isolation.kernel import capabilities, descriptors, fork, mounts, namespaces, seccomp
from sandbox_runtime.isolation.kernel.pid_one import PidOne

_PF_EXITING = 0x4
"""A process flag in /proc/PID/stat."""


def enter(channel: socket.SocketType, warm: WarmInterpreter) -> Order:
    """Run as gate, spawner, init and runner in turn. Returns in a runner that received a warm order."""
    data, passed = wire.receive(channel)
    if not data:
        os._exit(1)
    config = wire.decode_from_server(data)
    descriptors.close_except([channel.fileno(), *passed])
    try:
        spawner = _fork_spawner(config, passed)
    except OSError as error:
        wire.send(channel, wire.encode_for_server({"fault": str(error)}))
        os._exit(1)
    if spawner:
        _guard(channel, spawner)
    return _Spawner(channel, config, warm).serve()


def _fork_spawner(config: dict[str, Any], passed: list[int]) -> int:
    """Fork the spawner into a new pid namespace. Returns its pid in the gate and 0 in the spawner.

    passed: descriptor of the user namespace of earlier spawners, if there is one to join.
    """
    for user_namespace in passed:
        namespaces.setns(user_namespace, namespaces.NEW_USER)
        os.close(user_namespace)
    if config["rootless"] and not passed:
        _enter_own_user_namespace()
    namespaces.unshare(namespaces.NEW_PID)
    return os.fork()


def _enter_own_user_namespace() -> None:
    uid, gid = os.geteuid(), os.getegid()
    try:
        namespaces.unshare(namespaces.NEW_USER)
        namespaces.map_single_user(0, uid, gid)
    except OSError as error:
        raise OSError(f"{error}; {namespaces.USER_NAMESPACE_HINT}") from error


def _guard(channel: socket.SocketType, spawner: int) -> None:
    """Live as long as both the server and the spawner. Never reads from the channel, which belongs to the spawner."""
    watched = os.pidfd_open(spawner)
    poll = select.poll()
    poll.register(channel, 0)
    poll.register(watched, select.POLLIN)
    poll.poll()
    os.kill(spawner, signal.SIGKILL)
    os.waitpid(spawner, 0)
    os._exit(0)


class _Spawner:
    def __init__(self, channel: socket.SocketType, config: dict[str, Any], warm: WarmInterpreter) -> None:
        self.channel = channel
        self.config = config
        self.warm = warm
        self.without = frozenset(config["box"]["without"])
        self.filter = seccomp.build(notify=True)
        self.setup = Setup.from_message(config["box"])
        self.own_pid_namespace = -1
        self.pid_one = PidOne()
        self.single_use_boxes: dict[int, _SingleUseBox] = {}
        self.warm_pages: WarmPages | None = None
        self.poll = select.poll()
        self.keep_alive: list[object] = []
        self.wake, self.wake_in = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def serve(self) -> Order:
        capabilities.die_with_parent(signal.SIGKILL)
        # The first process of a box shares our memory and, for a plain user, the guest's user: what the guest sets on it
        # through /proc would apply to us.
        capabilities.set_dumpable(False)
        try:
            self._prepare()
        except Exception as error:
            wire.send(self.channel, wire.encode_for_server({"fault": f"{type(error).__name__}: {error}"}))
            os._exit(1)
        self._report_ready()
        set_wakeup_fd(self.wake_in, warn_on_full_buffer=False)
        self.poll.register(self.channel, select.POLLIN)
        self.poll.register(self.wake, select.POLLIN)
        while True:
            for descriptor, _ in self.poll.poll():
                if descriptor == self.wake:
                    self._reap()
                elif (order := self._handle_request()) is not None:
                    return order

    def _report_ready(self) -> None:
        """Report readiness and send our user namespace, if we created one, for spawners that start later."""
        if not self.config["rootless"]:
            wire.send(self.channel, wire.encode_for_server({"ready": True}))
            return
        user_namespace = os.open(f"{layers.SPAWNER_PROC}/self/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        try:
            wire.send(self.channel, wire.encode_for_server({"ready": True}), [user_namespace])
        finally:
            os.close(user_namespace)

    def _handle_request(self) -> Order | None:
        data, passed = wire.receive(self.channel)
        if not data:
            os._exit(0)
        request = wire.decode_from_server(data)
        if "warm_pages" in request:
            self.warm_pages = WarmPages(request["warm_pages"], layers.SPAWNER_PROC)
            return None
        if "files" in request:
            self._make_files(request, passed)
            return None
        return self._open_single_use_box(request, passed) if request["single"] else self._open_reusable_box(request, passed)

    def _make_files(self, request: dict[str, Any], passed: list[int]) -> None:
        if self._start(fork.fork, request) == 0:
            self.setup.__dict__.update(request["files"])
            area_mounts.make(wire.socket_from_fd(passed[0]), self.setup, passed[1] if len(passed) > 1 else None)
        for descriptor in passed:
            os.close(descriptor)

    def _reap(self) -> None:
        """Reap dead children. When the program of a single-use box ends, the first process is killed and with it everything
        left; once that is reaped, nothing is left in the box."""
        os.read(self.wake, 4096)
        while True:
            try:
                pid, status, used = os.wait3(os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            box = self.single_use_boxes.pop(pid, None)
            if box is not None:
                box.on_exit(pid, status, used)

    def _prepare(self) -> None:
        namespaces.unshare(namespaces.NEW_MOUNT)
        mounts.make_private()
        root = self.config["root"]
        mounts.build_root(root, self.config["rootfs"], self._folders())
        self._mount_devices(root)
        mounts.mount_proc(root + layers.SPAWNER_PROC)
        self._make_shared_scratch(root)
        mounts.pivot(root)
        mounts.make_read_only("/")
        self.own_pid_namespace = os.open(f"{layers.SPAWNER_PROC}/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self._preload()
        capabilities.count()
        init.prepare_signals()
        init.set_environment(self.setup)
        self.warm.finish_preload(self.config["preload"], injected_modules.rehearsable(self.config["injected"]))
        self.warm.title.set(["sandbox-spawner"])
        if self.config["copyable"] and process_image.SUPPORTED:
            process_image.make_copyable(layers.SPAWNER_PROC)

    def _folders(self) -> list[str]:
        own = [layers.ROOT, layers.SCRATCH, layers.SHARED_SCRATCH, layers.SPAWNER_PROC]
        return [*own, "/proc", "/sys", "/dev/pts", *self.config["box"]["writable"]]

    def _mount_devices(self, root: str) -> None:
        if "devices" in self.without:
            mounts.mount("/dev", f"{root}/dev", None, mounts.BIND | mounts.RECURSIVE)
        else:
            mounts.create_devices(f"{root}/dev", self.setup.gpu, make_nodes=not self.config["rootless"])

    def _make_shared_scratch(self, root: str) -> None:
        if "mount" in self.without:
            scratch = root + layers.SHARED_SCRATCH
            mounts.mount("tmpfs", scratch, "tmpfs", mounts.NO_SUID | mounts.NO_DEV, "mode=0755,size=64m")
            for name in self.config["box"]["writable"].values():
                os.mkdir(f"{scratch}/{name}")
                os.chmod(f"{scratch}/{name}", 0o1777)

    def _preload(self) -> None:
        """Import the modules of the preset at the paths that boxes see. A failed import is reported, not skipped. Modules that
        write while loading (font caches) get temporary folders that are gone before the first box."""
        sys.path[:] = [entry for entry in sys.path if entry != self.config["code"]]
        os.chdir("/")
        with _temporary_folders(self._without_trees(["/tmp", self.config["box"]["base_env"]["HOME"]])):
            for name in self.config["preload"]:
                try:
                    importlib.import_module(name)
                except Exception as error:
                    raise ImportError(f"cannot preload {name}: {type(error).__name__}: {error}") from error
            injected_modules.load(self.config["injected"])

    def _without_trees(self, folders: list[str]) -> list[str]:
        """Return the folders that can be covered without hiding something to import."""
        trees = self.config["box"]["trees"]
        return [folder for folder in folders if not any(tree.startswith(folder + "/") for tree in trees)]

    def _open_reusable_box(self, request: dict[str, Any], passed: list[int]) -> Order | None:
        """Fork the init of a new box directly into its pid namespace: unshare for the child, then return to our own namespace."""
        own_pids = "pid" not in self.without
        if own_pids:
            namespaces.unshare(namespaces.NEW_PID)
        pid = self._start(fork.fork, request)
        if pid == 0:
            return self._become_init(request, passed)
        if own_pids:
            namespaces.setns(self.own_pid_namespace, namespaces.NEW_PID)
        for descriptor in passed:
            os.close(descriptor)
        if pid > 0:
            self._announce(request, pid)
        return None

    def _announce(self, request: dict[str, Any], *pids: int) -> None:
        watched = [os.pidfd_open(pid) for pid in pids]
        try:
            wire.send(self.channel, wire.encode_for_server({"opened": request["id"]}), watched)
        finally:
            for descriptor in watched:
                os.close(descriptor)

    def _open_single_use_box(self, request: dict[str, Any], passed: list[int]) -> Order | None:
        namespaces.unshare(namespaces.NEW_PID)
        first = self._start(self.pid_one.start, request)
        pid = self._start(fork.fork, request) if first > 0 else -1
        if pid == 0:
            return self._become_single_use_runner(request, passed)
        namespaces.setns(self.own_pid_namespace, namespaces.NEW_PID)
        for descriptor in (passed[0], *passed[2:]):
            os.close(descriptor)
        if pid > 0:
            self.single_use_boxes[first] = self.single_use_boxes[pid] = _SingleUseBox(first, pid, passed[1])
            self._announce(request, first, pid)
        else:
            os.close(passed[1])
            if first > 0:
                os.kill(first, signal.SIGKILL)
        return None

    def _start(self, create: Callable[[], int], request: dict[str, Any]) -> int:
        """Return the child's pid, or -1 after reporting the error to the server."""
        try:
            return create()
        except OSError as error:
            wire.send(self.channel, wire.encode_for_server({"refused": request["id"], "reason": str(error)}))
            return -1

    def _become_single_use_runner(self, request: dict[str, Any], passed: list[int]) -> Order:
        """Keep these objects alive: freeing them on the way back to the first frame would copy their pages."""
        self.keep_alive += [request, passed, self.single_use_boxes]
        self._apply_request(request, passed)
        return single_use.run(wire.socket_from_fd(passed[0]), self.setup, self.filter, passed[2:], self._warm_up)

    def _warm_up(self) -> None:
        """Copy the pages that the program will write to. Boxes with shared files usually run more than a program and rehearse
        longer."""
        copied = self.warm_pages is not None and self.warm_pages.copy()
        if self.setup.shared_files or not copied:
            self.warm.rehearse(longer=self.setup.shared_files)

    def _apply_request(self, request: dict[str, Any], passed: list[int]) -> None:
        """In a child: apply the request. The namespace of a shared area is the last passed descriptor."""
        self.setup.__dict__.update(request["box"])
        self.channel.detach()
        if self.setup.shared_files:
            namespaces.setns(passed[-1], namespaces.NEW_MOUNT)
            os.close(passed.pop())

    def _become_init(self, request: dict[str, Any], passed: list[int]) -> Order | None:
        orders, reports = wire.socket_from_fd(passed[0]), wire.socket_from_fd(passed[1])
        self._apply_request(request, passed)
        self.warm.title.set(["sandbox-init"])
        return init.Init(orders, reports, self.setup, self.filter, passed[2:]).run()


class _SingleUseBox:
    """A single-use box while one of our two processes in it is alive."""

    def __init__(self, first: int, pid: int, reports: int) -> None:
        self._first = first
        self._pid = pid
        self._reports = reports
        self._alive = 2

    def on_exit(self, pid: int, status: int, used: resource.struct_rusage) -> None:
        """Report the end of the program to the server at once. The server watches the first process to see that nothing is
        left."""
        self._alive -= 1
        if pid == self._pid:
            lost = status == signal.SIGKILL and (not self._alive or _is_exiting(self._first))
            if self._alive:
                os.kill(self._first, signal.SIGKILL)
            with contextlib.suppress(OSError):
                report = wire.end_report(status, used.ru_utime, used.ru_stime, used.ru_maxrss * 1024, lost=lost)
                os.write(self._reports, report)
            os.close(self._reports)


def _is_exiting(pid: int) -> bool:
    """Whether the kernel has begun to end the process. A first process takes all others with it before it is gone."""
    with open(f"{layers.SPAWNER_PROC}/{pid}/stat", "rb") as file:
        flags = int(file.read().rpartition(b")")[2].split()[6])
    return bool(flags & _PF_EXITING)


@contextlib.contextmanager
def _temporary_folders(paths: list[str]) -> Iterator[None]:
    """Cover folders with a tmpfs. If /tmp cannot be covered, the last folder becomes TMPDIR."""
    for path in paths:
        mounts.mount("tmpfs", path, "tmpfs", mounts.NO_SUID | mounts.NO_DEV, "mode=0700,size=64m")
    previous, os.environ["TMPDIR"] = os.environ["TMPDIR"], "/tmp" if "/tmp" in paths else ["/tmp", *paths][-1]
    try:
        yield
    finally:
        os.environ["TMPDIR"] = previous
        for path in paths:
            mounts.unmount(path)
