"""Commands as processes of their own that need not begin by importing everything: most of what a short command does is that.

Theory of operation. One process (this file as a program) has imported the commands and listens on a socket. For each order it
forks a watcher, and that one a process that gets the words, the environment, the folder and the three streams of the order and
then calls the command's main() as a fresh interpreter would; at its end it does not take apart what it was born with, which would
cost more than most commands do. The watcher tells the process's id, waits for it, tells how it ended and is gone. Whoever asked
holds the other end of the listener's standard input: when it closes, the listener ends.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = (
    "sandbox_runtime.cli.main",
    "sandbox_runtime.cli.handler_run",
    "sandbox_runtime.assembly",
    # What commands import when they are called.
    "sandbox_runtime.cli.judge_runner",
    "sandbox_runtime.sdk",
    "alembic.command",
    "anyio.to_thread",
    "certifi",
    "httpcore",
    "pydantic.fields",
    "rich.markdown",
    "typer.rich_utils",
    "uvloop",
)
STREAMS = (0, 1, 2)
PIECE_BYTES = 1 << 16


class Prepared:
    """Where commands wait. run() is to them what subprocess.run() is."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="prepared-")
        self._address = f"{self._folder.name}/socket"
        words = [sys.executable, __file__, self._address]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None and self._process.stdout.readline() == b"ready\n"

    def close(self) -> None:
        self._process.communicate(timeout=60)
        self._folder.cleanup()

    def run(
        self, module: str, words: Sequence[str], stdin: bytes, cwd: Path | None, env: dict[str, str], timeout_s: float
    ) -> subprocess.CompletedProcess[bytes]:
        with contextlib.ExitStack() as stack:
            line = stack.enter_context(socket.socket(socket.AF_UNIX))
            line.settimeout(timeout_s)
            line.connect(self._address)
            theirs, ours = _pipes(stack)
            order = {"module": module, "words": list(words), "cwd": str(cwd or os.getcwd()), "env": env}
            socket.send_fds(line, [json.dumps(order).encode() + b"\n"], theirs)
            for end in theirs:
                os.close(end)
            answers = line.makefile("rb")
            pid = int(answers.readline())
            try:
                out, error = _exchanged(stdin, *ours)
                code = int(answers.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise
            return subprocess.CompletedProcess([module, *words], code, out.result(), error.result())


class _Reader(threading.Thread):
    def __init__(self, end: int) -> None:
        super().__init__(daemon=True)
        self._end = end
        self._read = b""
        self.start()

    def run(self) -> None:
        with open(self._end, "rb", closefd=False) as file:
            self._read = file.read()

    def result(self) -> bytes:
        self.join()
        return self._read


def _pipes(stack: contextlib.ExitStack) -> tuple[list[int], tuple[int, int, int]]:
    """The ends for the command, and ours: to its input, from its output and from what it complains about."""
    (read_in, write_in), (read_out, write_out), (read_error, write_error) = (os.pipe() for _ in STREAMS)
    stack.callback(os.close, read_out)
    stack.callback(os.close, read_error)
    return [read_in, write_out, write_error], (write_in, read_out, read_error)


def _exchanged(stdin: bytes, into: int, out: int, error: int) -> tuple[_Reader, _Reader]:
    readers = _Reader(out), _Reader(error)
    with contextlib.suppress(BrokenPipeError), open(into, "wb") as file:
        file.write(stdin)
    return readers


def _listen(address: str) -> None:
    for name in MODULES:
        import_module(name)
    import_module("sandbox_runtime.cli.main").build()
    gc.freeze()  # what all of them share stays shared
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # watchers are nobody's to wait for
    with socket.socket(socket.AF_UNIX) as ear:
        ear.bind(address)
        ear.listen(64)
        print("ready", flush=True)
        while ear in select.select([ear, 0], [], [])[0]:
            line, _ = ear.accept()
            if os.fork() == 0:
                ear.close()
                _watch(line)
                return
            line.close()


def _watch(line: socket.socket) -> None:
    """Comes back when the command did, in its own process; the watcher's ends here."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    order, streams = _received(line)
    pid = os.fork()
    if pid == 0:
        line.close()
        _become(order, streams)
        return
    for end in streams:
        os.close(end)
    line.sendall(b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    line.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _received(line: socket.socket) -> tuple[dict[str, Any], list[int]]:
    told, streams, _, _ = socket.recv_fds(line, PIECE_BYTES, len(STREAMS))
    while not told.endswith(b"\n"):
        told += line.recv(PIECE_BYTES)
    return json.loads(told), streams


def _become(order: dict[str, Any], streams: list[int]) -> None:
    for end, stream in zip(streams, STREAMS, strict=True):
        os.dup2(end, stream)
        os.close(end)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.argv = [order["module"], *order["words"]]
    try:
        import_module(order["module"]).main()
    except SystemExit as asked:
        if not (asked.code is None or isinstance(asked.code, int)):
            raise
        _leave(asked.code or 0)
    _leave(0)


def _leave(code: int) -> None:
    """What an interpreter owes to others when it ends: threads, exit handlers, what is still to be written."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    _listen(sys.argv[1])
