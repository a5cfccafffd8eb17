"""Run external programs: found in a fixed path, with a clean environment, killed after a timeout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sandbox_runtime.errors import PlatformFault, Unavailable

_KILL_TIMEOUT_S = 5.0
_PACKAGE_OF = {
    "ip": "iproute2",
    "nft": "nftables",
    "nsenter": "util-linux",
    "pasta": "passt",
    "setpriv": "util-linux",
    "sh": "dash",
    "slirp4netns": "slirp4netns",
}


@dataclass(frozen=True, slots=True)
class Tools:
    path: str
    timeout_s: float

    def find(self, name: str) -> str:
        path = shutil.which(name, path=self.path)
        if path is None:
            package = _PACKAGE_OF[name]
            raise Unavailable(f"network nat needs the program {name}, which is not installed: apt-get install {package}")
        return path

    def has(self, name: str) -> bool:
        return shutil.which(name, path=self.path) is not None

    async def run(self, argv: Sequence[str], *, stdin: str = "", pass_fds: Sequence[int] = ()) -> str:
        """Return the standard output. Raises PlatformFault with its stderr if the exit code is not 0."""
        with _memory_file(stdin) as file:
            process = await self.start(argv, stdin=file, stdout=asyncio.subprocess.PIPE, pass_fds=pass_fds)
        try:
            output, stderr = await asyncio.wait_for(process.communicate(), self.timeout_s)
        except TimeoutError as error:
            raise PlatformFault(f"{argv[0]} did not finish within {self.timeout_s:g} s") from error
        finally:
            await kill(process)
        if process.returncode != 0:
            raise PlatformFault(f"{argv[0]} failed with {process.returncode}: {stderr_summary(stderr)}")
        return output.decode(errors="replace")

    async def start(self, argv: Sequence[str], *, stdin: int, stdout: int, pass_fds: Sequence[int]) -> asyncio.subprocess.Process:
        """Start a program with a pipe as stderr. It leads its own session, so that everything it starts can be killed with it."""
        starting = asyncio.create_task(
            asyncio.create_subprocess_exec(
                *argv,
                stdin=stdin,
                stdout=stdout,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=tuple(pass_fds),
                env={"PATH": self.path, "LC_ALL": "C"},
                cwd="/",
                start_new_session=True,
            )
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # Cancelled half way, this could wait forever for a process that nobody watches; to the end, it takes a millisecond.
            await kill(await starting)
            raise
        except OSError as error:
            raise PlatformFault(f"cannot start {argv[0]}: {error}") from error


@contextlib.contextmanager
def _memory_file(text: str) -> Iterator[int]:
    """Yield a file in memory. A program that exits without reading it disturbs nobody, unlike with a pipe."""
    descriptor = os.memfd_create("stdin")
    try:
        with open(descriptor, "w", closefd=False) as file:
            file.write(text)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


async def kill(process: asyncio.subprocess.Process) -> None:
    """Kill and reap the process and what it started, if still running. It has nothing to clean up, so it gets no warning."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        await asyncio.wait_for(process.wait(), _KILL_TIMEOUT_S)
    except TimeoutError as error:
        raise PlatformFault(f"network process {process.pid} of a box did not die within {_KILL_TIMEOUT_S:g} s") from error


def stderr_summary(stderr: bytes) -> str:
    """Return the last lines. pasta repeats that it has no system log; drop that."""
    lines = stderr.decode(errors="replace").strip().splitlines()
    return " / ".join(line.strip() for line in lines[-8:] if "to syslog" not in line) or "no error message"
