"""The interface between tools and a sandbox host, and what its implementations share."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import anyio

from sandbox_runtime.errors import SandboxError

Started = TypeVar("Started")
Sink = Callable[[str, str], None]
"""Called with a stream name and a piece of text while a program runs."""
WORKSPACE = "/workspace"
MAX_LISTED = 1000
TESTS_CLASS = "CommonOJDataset"
"""Dataset class that runs a program on inputs and compares its output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """None means the host's default."""

    id: str
    env: Mapping[str, str] = field(default_factory=dict)
    cpu_cores: float | None = None
    memory_bytes: int | None = None
    disk_bytes: int | None = None
    network: str = "none"
    """none or nat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxView:
    id: str
    state: str
    """A session state: creating, running, paused, completed, failed, timeout or terminated."""
    created_ms: int
    updated_ms: int
    env: Mapping[str, str] = field(default_factory=dict)
    cpu_cores: float = 1.0
    memory_bytes: int = 0
    disk_bytes: int = 0
    network: str = ""
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """What to run: `code` in `language`; or the command `argv`, without a shell; or `code` as a cell in `context`."""

    timeout_s: float
    language: str = ""
    code: str = ""
    argv: tuple[str, ...] = ()
    context: str = ""
    stdin: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cacheable: bool = False
    """The caller states that the output depends on the sandbox's files only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    id: str
    state: str
    exit_code: int | None
    stdout: str
    stderr: str
    dropped_bytes: int = 0
    error: str = ""
    ending: str = ""
    """exited, timed_out, out_of_memory, …; empty if the host does not report it."""
    wall_s: float = 0.0
    displays: tuple[Mapping[str, Any], ...] = ()
    """Rich output of a cell, by media type."""
    cached: bool | None = None
    """Whether this is the output of an earlier run; None if the caller did not allow caching."""

    @property
    def timed_out(self) -> bool:
        return self.state == "timeout" or self.ending in ("timed_out", "cpu_exceeded")

    @property
    def ok(self) -> bool:
        return self.state == "completed" and not self.exit_code


@dataclass(frozen=True, slots=True)
class FileView:
    name: str
    """Relative to the workspace."""
    size_bytes: int
    is_folder: bool
    mode: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    accepted: bool
    reason: str
    message: str
    cases: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    code: str
    language: str
    tests: tuple[tuple[str, str], ...]
    """Pairs of stdin and expected stdout."""
    timeout_s: float

    @property
    def fenced(self) -> str:
        """The code in a Markdown fence longer than any fence in the code."""
        longest = max((len(ticks) for ticks in re.findall(r"`+", self.code)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}{self.language}\n{self.code}\n{fence}"

    @property
    def row(self) -> dict[str, Any]:
        """The row of a stdin/stdout dataset."""
        tests = [{"input": {"stdin": stdin}, "output": {"stdout": stdout}} for stdin, stdout in self.tests]
        return {"id": 0, "content": "", "labels": {}, "test": tests}


class SandboxHost(Protocol):
    """Sandboxes of one caller. Methods raise errors of sandbox_runtime.errors. File names are relative to the workspace."""

    async def create(self, spec: SandboxSpec) -> SandboxView: ...
    async def list(self) -> Sequence[SandboxView]:
        """Return live sandboxes, oldest first."""
        ...

    async def get(self, sandbox_id: str) -> SandboxView: ...
    async def terminate(self, sandbox_id: str) -> None: ...
    async def run(self, sandbox_id: str, spec: RunSpec, sink: Sink | None = None) -> RunOutcome:
        """Run and wait. Cancelling stops the program."""
        ...

    async def open_context(self, sandbox_id: str) -> str: ...
    async def contexts(self, sandbox_id: str) -> Sequence[str]: ...
    async def fork(self, sandbox_id: str) -> SandboxView: ...
    async def install(
        self, sandbox_id: str, packages: Sequence[tuple[str, str]], timeout_s: float, sink: Sink | None = None
    ) -> Sequence[str]:
        """Install Python packages, given as (name, version specifier); return all installed packages."""
        ...

    async def read(self, sandbox_id: str, name: str, max_bytes: int) -> bytes:
        """Raises InvalidRequest if the file is larger than `max_bytes`."""
        ...

    async def write(self, sandbox_id: str, name: str, content: bytes, mode: int = 0o644) -> FileView: ...
    async def remove(self, sandbox_id: str, name: str) -> None:
        """Remove a file, or a folder recursively."""
        ...

    async def stat(self, sandbox_id: str, name: str) -> FileView: ...
    async def files(self, sandbox_id: str, folder: str = "", *, recursive: bool = False) -> tuple[Sequence[FileView], bool]:
        """Return up to MAX_LISTED files and whether there are more."""
        ...

    def changes(self, sandbox_id: str) -> AsyncIterator[Sequence[str]]:
        """Yield names of changed files. An empty name means that changes were lost: list the files again."""
        ...

    async def judge(self, solution: Solution) -> JudgeOutcome: ...


async def start_or_undo(start: Coroutine[Any, Any, Started], undo: Callable[[Started], Awaitable[object]]) -> Started:
    """Return what `start` returns. If the caller is cancelled meanwhile, finish `start` and then undo it.

    A cancelled caller does not know yet what to undo, so `start` must complete. It runs in its own task because a shielded anyio
    scope blocks cancellation of scopes, not of tasks.
    """
    task = asyncio.create_task(start)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True), contextlib.suppress(SandboxError):
            await undo(await task)
        raise
