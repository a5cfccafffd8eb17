"""What we are compared with: the guest's interpreter started by itself, and started by a plain bwrap command line.

Started with posix_spawn, the cheapest start there is: a baseline must not look worse than it is.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.perf.jobs import Program

MAX_RUN_S = 120.0
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}
WORKDIR = "/workspace"
_SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Baseline:
    argv: tuple[str, ...]
    stdout: str
    env: Mapping[str, str] = field(default_factory=lambda: ENVIRONMENT)

    def once(self) -> float:
        """Seconds from the start until the output is read and the process reaped."""
        begun = time.perf_counter()
        output, status = _start_and_read(self.argv, self.env)
        taken_s = time.perf_counter() - begun
        if status != 0 or output != self.stdout.encode():
            text = output.decode(errors="replace").strip()[-300:]
            raise PlatformFault(f"{self.argv[0]} ended with status {status}: {text or 'no output'}")
        return taken_s


@contextmanager
def program_file(program: Program) -> Iterator[Path]:
    """Readable by everyone, because bwrap may run it as another user."""
    with TemporaryDirectory(prefix="sandbox-bench-") as folder:
        Path(folder).chmod(0o755)
        source = Path(folder) / "main.py"
        source.write_text(program.code)
        yield source


def bare(python: str, source: Path, program: Program) -> Baseline:
    return Baseline((python, str(source)), program.stdout or "")


def bubblewrap(python: str, prefixes: Sequence[str], source: Path, program: Program) -> Baseline:
    """As a user would write it: everything unshared, the system and the interpreter read-only."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise Unavailable("bwrap is not installed (Debian: apt install bubblewrap)")
    argv = [bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for folder in _SYSTEM_FOLDERS:
        if os.path.islink(folder):
            argv += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            argv += ["--ro-bind", folder, folder]
    for prefix in prefixes:
        argv += ["--ro-bind", prefix, prefix]
    argv += ["--ro-bind", str(source.parent), WORKDIR, "--chdir", WORKDIR, python, source.name]
    return Baseline(tuple(argv), program.stdout or "")


def back_to_back(baseline: Baseline, workers: int, seconds: float) -> tuple[list[float], float]:
    """Durations of all runs that ended in time, and the time: each worker starts the next run when one has ended."""
    deadline = time.perf_counter() + seconds
    samples: list[float] = []
    faults: list[Exception] = []

    def work() -> None:
        try:
            while (now := time.perf_counter()) < deadline:
                taken_s = baseline.once()
                if now + taken_s <= deadline:
                    samples.append(taken_s)
        except Exception as error:
            faults.append(error)

    _in_threads(work, workers, seconds + MAX_RUN_S)
    if faults:
        raise faults[0]
    return samples, seconds


def _in_threads(work: Callable[[], None], workers: int, timeout_s: float) -> None:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout_s)


def _start_and_read(argv: tuple[str, ...], env: Mapping[str, str]) -> tuple[bytes, int]:
    ours, theirs = os.pipe2(os.O_CLOEXEC)
    try:
        try:
            actions = [
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, theirs, 1),
                (os.POSIX_SPAWN_DUP2, theirs, 2),
            ]
            pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
        finally:
            os.close(theirs)
        output = _read_all(ours, pid)
    finally:
        os.close(ours)
    return output, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _read_all(descriptor: int, pid: int) -> bytes:
    """Until the end of the stream; a process that says nothing for too long is killed, which ends it."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    pieces: list[bytes] = []
    while True:
        if not poll.poll(MAX_RUN_S * 1000):
            os.kill(pid, signal.SIGKILL)
        piece = os.read(descriptor, _READ_BYTES)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
