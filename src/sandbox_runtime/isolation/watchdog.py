"""The server's side of the crash watchdog: a process that cleans up if the server is killed."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import sandbox_runtime
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.kernel.cgroup import tree
from sandbox_runtime.isolation.kernel.cgroup.root import CgroupRoot

_ANSWER_S = 10.0
_CLEAN_UP_S = 90.0
_BOOT_SCRIPT = """
import sys
sys.path.append(sys.argv[1])
from sandbox_runtime.isolation.inside.watchdog import main
main(int(sys.argv[2]), int(sys.argv[3]))
"""


class CrashWatchdog:
    """Removes watched resources when this process dies. Calls are synchronous and fast, except start (tens of milliseconds) and
    close.

    If the watchdog itself was killed, the next call or restart_if_dead starts a new one with the whole list.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        self._watched: dict[tuple[str, str | int], bytes] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    @property
    def pid(self) -> int | None:
        """Pid of the watchdog, or None if it does not run."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the watchdog. Raises PlatformFault if it fails to start."""
        self._kill()
        ours, theirs = socket.socketpair()
        ours.settimeout(_ANSWER_S)
        self._socket = ours
        try:
            with theirs:
                self._process = self._spawn(theirs.fileno())
            ready = ours.recv(1)
            ours.sendall(b"".join(self._watched.values()))
        except OSError as error:
            self._kill()
            raise PlatformFault(f"the crash watchdog did not start: {error}") from error
        if not ready:
            raise PlatformFault(f"the crash watchdog exited immediately with status {self._process.wait(_ANSWER_S)}")

    def restart_if_dead(self) -> None:
        """Start a new watchdog if it is dead. Cheap if it is not."""
        if self._process is None or self._process.poll() is not None:
            self.start()

    def watch_cgroup_root(self, root: CgroupRoot) -> None:
        for kind, path in _watched_paths(root):
            self._watch(kind, path, path)

    def forget_cgroup_root(self, root: CgroupRoot) -> None:
        """Call after the root was closed."""
        for kind, path in _watched_paths(root):
            self._forget(kind, path, path)

    def watch_folder(self, path: str) -> None:
        path = os.path.abspath(path)
        self._watch("folder", path, path)

    def forget_folder(self, path: str) -> None:
        path = os.path.abspath(path)
        self._forget("folder", path, path)

    def watch_process(self, pid: int) -> None:
        """Watch a process. Ignores one that is already dead."""
        start = tree.start_time(pid)
        if start is not None:
            self._watch("process", pid, [pid, start])

    def forget_process(self, pid: int) -> None:
        self._forget("process", pid, [pid])

    def close(self) -> bool:
        """Remove everything still watched and end the watchdog. Returns True if nothing is left. Idempotent."""
        process, channel = self._process, self._socket
        self._process = self._socket = None
        if process is None or channel is None:
            return True
        with contextlib.suppress(OSError), channel:
            channel.sendall(_line("end"))
        try:
            return process.wait(_CLEAN_UP_S) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False

    def _spawn(self, socket_fd: int) -> subprocess.Popen[bytes]:
        source = str(Path(sandbox_runtime.__file__).parent.parent)
        return subprocess.Popen(
            [self._python, "-I", "-S", "-E", "-B", "-c", _BOOT_SCRIPT, source, str(socket_fd), str(os.getpid())],
            pass_fds=[socket_fd],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            env={},
        )

    def _watch(self, kind: str, key: str | int, value: object) -> None:
        self._watched[kind, key] = _line("watch", kind, value)
        self._send(self._watched[kind, key])

    def _forget(self, kind: str, key: str | int, value: object) -> None:
        if self._watched.pop((kind, key), None):
            self._send(_line("forget", kind, value))

    def _send(self, line: bytes) -> None:
        """Send a line. Before start() there is no socket: start() sends the whole list. If the watchdog is gone, start a new
        one."""
        if self._socket is None:
            return
        try:
            self._socket.sendall(line)
        except OSError:
            self.start()

    def _kill(self) -> None:
        """Kill an unresponsive watchdog before its socket is closed: it would take that as the end of the server and clean up."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._socket is not None:
            self._socket.close()
        self._process = self._socket = None


def _watched_paths(root: CgroupRoot) -> list[tuple[str, str]]:
    return [*(("cgroup", path) for path in root.directories), *([("leaf", root.leaf)] if root.leaf else [])]


def _line(*words: object) -> bytes:
    return json.dumps(words).encode() + b"\n"
