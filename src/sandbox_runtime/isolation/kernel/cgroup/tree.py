"""cgroup directories by path: enter, kill and remove. Used by the server, the crash watchdog and processes of boxes.

Theory of operation. A directory of the cgroup file system is a set of processes. It can be removed only when it contains no
processes and no directories. Version 2 kills a whole tree atomically through cgroup.kill; otherwise the process list is read
and signalled until nothing new appears, with forks refused meanwhile if the pids controller is available. A pid from the list
may be reused before it is signalled, so each is pinned by a pidfd first and looked up in the list again.

Entering is the expensive part: writing another process's pid to cgroup.procs waits for a grace period of the whole kernel, 5 to
20 ms on an idle machine. A single-threaded process that writes "0" to the `tasks` file of version 1 moves itself without that
wait, in about 20 µs, and the kernel checks the permission of whoever opened the file, not of the writer. Hence `enter`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from collections.abc import Iterator, Sequence

FREEZER_STATE, FROZEN, THAWED = "freezer.state", "FROZEN", "THAWED"
MAX_STAT_BYTES = 65536
"""How much is read of a usage file."""
_PAUSE_S = 0.002
_MAX_PASSES = 100
_MAX_PIDFDS = 100  # each needs a descriptor


def enter(entry_fds: Sequence[int]) -> None:
    """Move the calling process, which must have only one thread, into the group of these descriptors, and close them."""
    try:
        for fd in entry_fds:
            os.write(fd, b"0")
    finally:
        for fd in entry_fds:
            os.close(fd)


def write_file(path: str, text: str, dir_fd: int | None = None) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def read_file(path: str, dir_fd: int | None = None) -> str | None:
    """Return None if the kernel has no such file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    try:
        return os.read(fd, MAX_STAT_BYTES).decode()
    except OSError as error:
        if error.errno == errno.ENODEV:  # the directory was removed after the open
            return None
        raise
    finally:
        os.close(fd)


def pids_in(path: str) -> set[int]:
    """Return the processes in this directory itself. Those of other pid namespaces read as 0 and cannot be signalled from
    here."""
    return set(map(int, _read_all(os.path.join(path, "cgroup.procs")).split())) - {0}


def kill_tree(path: str) -> None:
    """Send SIGKILL to every process in the directory and below. Does not wait for their end."""
    try:
        write_file(os.path.join(path, "cgroup.kill"), "1")
    except OSError:
        for directory in _deepest_first(path):
            kill_directory(directory)


def kill_directory(path: str) -> None:
    """The same for this directory alone, on kernels without cgroup.kill."""
    signalled: set[int] = set()
    for _ in range(_MAX_PASSES):
        fresh = pids_in(path) - signalled
        if not fresh:
            return
        with contextlib.suppress(OSError):  # without the pids controller in this hierarchy, forks continue
            write_file(os.path.join(path, "pids.max"), "0")
        for start in range(0, len(fresh), _MAX_PIDFDS):
            _signal_members(path, set(sorted(fresh)[start : start + _MAX_PIDFDS]))
        _thaw(path)
        signalled |= fresh


def _thaw(path: str) -> None:
    """In the hierarchy of the version 1 freezer: a frozen process dies only after thawing."""
    with contextlib.suppress(OSError):
        write_file(os.path.join(path, FREEZER_STATE), THAWED)


def remove_trees(paths: Sequence[str], wait_s: float = 5.0) -> list[str]:
    """Like remove_tree, for the directories of one server in several hierarchies. Returns what is left. All are killed before
    waiting for any, because a process frozen in one hierarchy does not leave the others."""
    deadline = time.monotonic() + wait_s
    for path in paths:
        kill_tree(path)
    return [path for path in paths if not remove_tree(path, deadline - time.monotonic())]


def remove_tree(path: str, wait_s: float = 5.0) -> bool:
    """Kill what runs in the directory and below, and remove everything. Returns False if something is left after `wait_s`."""
    deadline = time.monotonic() + wait_s
    while True:
        kill_tree(path)
        for directory in _deepest_first(path):
            with contextlib.suppress(OSError):
                os.rmdir(directory)
        if not os.path.isdir(path):
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_PAUSE_S)


def restore_processes(leaf: str) -> bool:
    """Move processes back from the leaf of a version 2 directory, unless another server still needs the leaf.

    The parent had no controller enabled before the move, otherwise it could not have held processes: so all are disabled.
    """
    if not os.path.isdir(leaf):
        return False
    base = os.path.dirname(leaf)
    try:
        for controller in (read_file(os.path.join(base, "cgroup.subtree_control")) or "").split():
            write_file(os.path.join(base, "cgroup.subtree_control"), f"-{controller}")
        for pid in pids_in(leaf):
            with contextlib.suppress(ProcessLookupError):
                write_file(os.path.join(base, "cgroup.procs"), str(pid))
        os.rmdir(leaf)
    except OSError:
        return False
    return True


def start_time(pid: int) -> int | None:
    """Return when the process started, in clock ticks since boot, which identifies a reused pid. None: it is dead."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def _read_all(path: str) -> bytes:
    """Read a file of any length; empty if it is gone."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: os.read(fd, 65536), b""))
    except OSError:
        return b""
    finally:
        os.close(fd)


def _deepest_first(path: str) -> Iterator[str]:
    for directory, _, _ in os.walk(path, topdown=False):
        yield directory


def _signal_members(path: str, pids: set[int]) -> None:
    with contextlib.ExitStack() as opened:
        pinned: dict[int, int] = {}
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                pinned[pid] = os.pidfd_open(pid)
                opened.callback(os.close, pinned[pid])
        for pid in pids_in(path) & pinned.keys():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pinned[pid], signal.SIGKILL)
