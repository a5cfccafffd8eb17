"""Resources on the host that no box may reach: a secret in our environment, files, listening sockets, a process, a descriptor.

They represent what a real server has. They exist only during an attack and are checked for damage afterwards.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

VARIABLE = "SANDBOX_DOCTOR_CANARY"
_NAMESPACES = ("user", "pid", "mnt", "net", "ipc", "uts", "cgroup")
_ANSWER_TIMEOUT_S = 5.0


class Canaries:
    def __init__(self) -> None:
        self._token = secrets.token_hex(12)
        self._opened = contextlib.ExitStack()

    @property
    def secret(self) -> str:
        """Never passed to a program directly: it has to find it."""
        return f"canary-{self._token}"

    def __enter__(self) -> Canaries:
        with contextlib.ExitStack() as opened:
            self._folder = Path(tempfile.mkdtemp(prefix="sandbox-doctor-"))
            opened.callback(shutil.rmtree, self._folder, ignore_errors=True)
            self._place_files(opened)
            self._tcp = opened.enter_context(_listening(socket.AF_INET, ("127.0.0.1", 0)))
            self._abstract = opened.enter_context(_listening(socket.AF_UNIX, f"\0sandbox-doctor-{self._token}"))
            self._process = _echo()
            opened.callback(_end, self._process)
            os.environ[VARIABLE] = self.secret
            opened.callback(os.environ.pop, VARIABLE, None)
            self._opened = opened.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened.close()

    def _place_files(self, opened: contextlib.ExitStack) -> None:
        """Readable and writable for all users, so that only the box's isolation protects them."""
        self._folder.chmod(0o755)
        self._secret_file = self._folder / "secret"
        self._secret_file.write_text(self.secret)
        self._target = self._folder / "target"
        self._target.mkdir()
        self._target.chmod(0o777)
        self._descriptor = os.open(self._secret_file, os.O_RDONLY)
        opened.callback(os.close, self._descriptor)
        os.set_inheritable(self._descriptor, True)

    def facts(self) -> dict[str, object]:
        return {
            "token": self._token,
            "secret_file": str(self._secret_file),
            "folder": str(self._target),
            "port": self._tcp.getsockname()[1],
            "abstract": self._abstract.getsockname()[1:].decode(),
            "process": self._process.pid,
            "server": os.getpid(),
            "host_name": socket.gethostname(),
            "namespaces": {name: os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES},
        }

    def harmed(self) -> list[str]:
        damage = []
        if not _answers(self._process):
            damage.append("a process of the host was killed")
        if not self._secret_file.is_file():
            damage.append("a file of the host was deleted or replaced")
        elif self._secret_file.read_text() != self.secret:
            damage.append("a file of the host was written to")
        if not self._target.is_dir():
            damage.append("a folder of the host was deleted or replaced")
        elif any(self._target.iterdir()):
            damage.append("a file was created in a folder of the host")
        return damage


def _listening(family: socket.AddressFamily, address: tuple[str, int] | str) -> socket.socket:
    """Listen without accepting: the kernel completes connections up to the backlog."""
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.bind(address)
        sock.listen(16)
    except BaseException:
        sock.close()
        raise
    return sock


def _echo() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0)


def _answers(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process still responds. Checking its existence is not enough: one that was just killed may still look alive."""
    if process.stdin is None or process.stdout is None:
        return False
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(b"?")
    answer = select.poll()
    answer.register(process.stdout, select.POLLIN)
    return bool(answer.poll(_ANSWER_TIMEOUT_S * 1000)) and process.stdout.read(1) == b"?"


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate(timeout=10)
