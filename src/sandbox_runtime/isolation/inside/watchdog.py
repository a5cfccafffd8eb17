"""Clean up after a server that ended in any way.

Theory of operation. The server starts the watchdog once, connected by one socket and in its own session, so that signals to the
server's process group do not reach it. Over the socket the server lists what must not outlive it: cgroup directories, folders,
processes. The watchdog sleeps until the server is gone: either its end of the socket closes or its pidfd reports its death,
whichever comes first, because a child may hold a stray copy of the socket. Then it kills and removes everything on its list and
exits. It runs no guest code and reads nothing that a guest wrote.

Messages are JSON lines: ["watch", kind, value], ["forget", kind, value] and ["end"]. Kinds: "cgroup" and "folder" with a path,
"leaf" with the path of a leaf cgroup whose processes are moved back (cgroup/v2.py), "process" with [pid, start time]. The
watchdog sends "+" when it is ready.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time

from sandbox_runtime.isolation.kernel import folders
from sandbox_runtime.isolation.kernel.cgroup import tree

_CGROUPS_WAIT_S = 5.0
_PROCESSES_WAIT_S = 2.0
_IGNORED_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE)


class WatchedResources:
    """Resources that must not outlive the server. A process is pinned by a pidfd as soon as it is listed."""

    def __init__(self) -> None:
        self.paths: dict[str, list[str]] = {"cgroup": [], "leaf": [], "folder": []}
        self.processes: dict[int, int] = {}

    def handle(self, line: bytes) -> bool:
        """Process one message. Returns False if it is the last one."""
        verb, *rest = json.loads(line)
        if verb == "end":
            return False
        kind, value = rest
        if kind == "process":
            self._watch_process(*value) if verb == "watch" else self._forget_process(value[0])
        elif verb == "watch":
            self.paths[kind].append(value)
        elif value in self.paths[kind]:
            self.paths[kind].remove(value)
        return True

    def _watch_process(self, pid: int, start: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            fd = os.pidfd_open(pid)
            if tree.start_time(pid) == start:
                self.processes[pid] = fd
            else:
                os.close(fd)

    def _forget_process(self, pid: int) -> None:
        fd = self.processes.pop(pid, None)
        if fd is not None:
            os.close(fd)

    def clean_up(self) -> list[str]:
        """Kill and remove everything. Returns what could not be removed. Processes are killed first: they could write into
        folders."""
        self._kill_processes()
        left = tree.remove_trees(self.paths["cgroup"], _CGROUPS_WAIT_S)
        for leaf in self.paths["leaf"]:
            tree.restore_processes(leaf)
        return left + [path for path in self.paths["folder"] if not folders.remove_folder(path)]

    def _kill_processes(self) -> None:
        for fd in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(fd, signal.SIGKILL)
        deadline = time.monotonic() + _PROCESSES_WAIT_S
        for fd in self.processes.values():
            _wait_readable([fd], max(0.0, deadline - time.monotonic()))


def main(socket_fd: int, server_pid: int) -> None:
    for number in _IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    server = socket.socket(fileno=socket_fd)
    watched = WatchedResources()
    server.sendall(b"+")
    _listen(server, _open_server_pidfd(server_pid), watched)
    left = watched.clean_up()
    for path in left:
        print(f"sandbox watchdog: could not remove {path}", file=sys.stderr)
    sys.exit(1 if left else 0)


def _open_server_pidfd(pid: int) -> int | None:
    """Return None if the kernel has no pidfds or the server is already dead; the socket then reports its end."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _listen(server: socket.socket, server_pidfd: int | None, watched: WatchedResources) -> None:
    """Process messages until the server is gone and everything it sent has been read."""
    watched_fds = [server.fileno()] if server_pidfd is None else [server.fileno(), server_pidfd]
    unread = b""
    while True:
        _wait_readable(watched_fds)
        try:
            piece = server.recv(65536, socket.MSG_DONTWAIT)
        except (BlockingIOError, ConnectionResetError):  # the server is dead and sent nothing more
            return
        *lines, unread = (unread + piece).split(b"\n")
        if not piece or not all([watched.handle(line) for line in lines]):
            return


def _wait_readable(fds: list[int], wait_s: float | None = None) -> None:
    """Uses poll, because select does not support descriptors above 1023."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    poll.poll(None if wait_s is None else wait_s * 1000)
