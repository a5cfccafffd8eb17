"""What the tools need of a host of sandboxes, whoever that is: an engine in this process, or a server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Sink = Callable[[str, str], None]
"""Called with the name of a stream and a piece of text, while a program runs."""
WORKSPACE = "/workspace"
MAX_LISTED = 1000
TESTS_CLASS = "CommonOJDataset"
"""Of the benchmark that runs programs on inputs and compares what they print."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """What is None is as the host gives it. network: none or nat."""

    id: str
    env: Mapping[str, str] = field(default_factory=dict)
    cpu_cores: float | None = None
    memory_bytes: int | None = None
    disk_bytes: int | None = None
    network: str = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxView:
    """state: in the words of sessions (creating, running, paused, completed, failed, timeout, terminated)."""

    id: str
    state: str
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
    """A program of a language; with argv a command, started as it is; with context a cell in that live interpreter."""

    timeout_s: float
    language: str = ""
    code: str = ""
    argv: tuple[str, ...] = ()
    context: str = ""
    stdin: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cacheable: bool = False
    """Whoever asks for it says that it prints the same for the same files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """ending: of outcome's words (exited, timed_out, out_of_memory, …); empty where the host does not tell. displays: what a
    cell showed, by media type."""

    id: str
    state: str
    exit_code: int | None
    stdout: str
    stderr: str
    dropped_bytes: int = 0
    error: str = ""
    ending: str = ""
    wall_s: float = 0.0
    displays: tuple[Mapping[str, Any], ...] = ()
    cached: bool | None = None
    """Whether this is what an earlier run printed; None where that was not asked for."""

    @property
    def timed_out(self) -> bool:
        return self.state == "timeout" or self.ending in ("timed_out", "cpu_exceeded")

    @property
    def ok(self) -> bool:
        return self.state == "completed" and not self.exit_code


@dataclass(frozen=True, slots=True)
class FileView:
    """name: below the workspace."""

    name: str
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
    """tests: pairs of stdin and expected stdout."""

    code: str
    language: str
    tests: tuple[tuple[str, str], ...]
    timeout_s: float

    @property
    def fenced(self) -> str:
        """As a model would write it: the fence is longer than any in the code itself."""
        longest = max((len(ticks) for ticks in re.findall(r"`+", self.code)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}{self.language}\n{self.code}\n{fence}"

    @property
    def row(self) -> dict[str, Any]:
        """As a benchmark of inputs and outputs has it."""
        tests = [{"input": {"stdin": stdin}, "output": {"stdout": stdout}} for stdin, stdout in self.tests]
        return {"id": 0, "content": "", "labels": {}, "test": tests}


class SandboxHost(Protocol):
    """One caller's view of the host. Raises the errors of sandbox_runtime.errors. Names of files are below the workspace."""

    async def create(self, spec: SandboxSpec) -> SandboxView: ...
    async def list(self) -> Sequence[SandboxView]:
        """Those that have not ended, the oldest first."""
        ...

    async def get(self, sandbox_id: str) -> SandboxView: ...
    async def terminate(self, sandbox_id: str) -> None: ...
    async def run(self, sandbox_id: str, spec: RunSpec, sink: Sink | None = None) -> RunOutcome:
        """Whoever cancels this ends the program as well."""
        ...

    async def open_context(self, sandbox_id: str) -> str: ...
    async def contexts(self, sandbox_id: str) -> Sequence[str]: ...
    async def fork(self, sandbox_id: str) -> SandboxView: ...
    async def install(
        self, sandbox_id: str, packages: Sequence[tuple[str, str]], timeout_s: float, sink: Sink | None = None
    ) -> Sequence[str]:
        """Packages of Python, as names and versions; what is there afterwards."""
        ...

    async def read(self, sandbox_id: str, name: str, max_bytes: int) -> bytes:
        """Raises InvalidRequest where the file is larger than that."""
        ...

    async def write(self, sandbox_id: str, name: str, content: bytes, mode: int = 0o644) -> FileView: ...
    async def remove(self, sandbox_id: str, name: str) -> None:
        """A file, or a folder with all that is in it."""
        ...

    async def stat(self, sandbox_id: str, name: str) -> FileView: ...
    async def files(self, sandbox_id: str, folder: str = "", *, recursive: bool = False) -> tuple[Sequence[FileView], bool]:
        """And whether there are more."""
        ...

    def changes(self, sandbox_id: str) -> AsyncIterator[Sequence[str]]:
        """Names of files that changed, as they change; an empty name: more than can be told."""
        ...

    async def judge(self, solution: Solution) -> JudgeOutcome: ...
