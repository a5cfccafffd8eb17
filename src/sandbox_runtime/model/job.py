"""Code to run, from any door, before it becomes a plan, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import Limits

if TYPE_CHECKING:
    from sandbox_runtime.model.outcome import Outcome

MAX_NAME_BYTES = 4096


@dataclass(frozen=True, slots=True)
class File:
    """A file of a box. A relative name is below the workspace, an absolute one is as the program in the box sees it."""

    name: str
    content: bytes
    executable: bool = False

    def __post_init__(self) -> None:
        check_file_name(self.name)


def check_file_name(name: str) -> None:
    if not name or "\0" in name:
        raise InvalidRequest(f"a file name must not be empty or hold NUL bytes: {name!r}")
    if len(name.encode(errors="surrogateescape")) > MAX_NAME_BYTES:
        raise InvalidRequest(f"a file name is longer than {MAX_NAME_BYTES} bytes: {name[:60]!r}…")
    if any(part == ".." for part in name.split("/")):
        raise InvalidRequest(f"a file name must not hold '..': {name!r}")
    if name.endswith("/") or name in (".", "/"):
        raise InvalidRequest(f"{name!r} names a folder, not a file")


@dataclass(frozen=True, slots=True)
class Reply:
    """Text for standard input that is held back until the program prints the prompt; the input ends after it."""

    prompt: bytes
    text: bytes


@dataclass(frozen=True, slots=True)
class Job:
    """reply: standard input stays open after `stdin`, until the reply was sent."""

    language: str
    code: str
    stdin: bytes | None = None
    files: tuple[File, ...] = ()
    fetch: tuple[str, ...] = ()
    compile_limits: Limits = Limits()
    run_limits: Limits = Limits()
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class JobResult:
    """run is None when the compile step did not succeed; files holds those of fetch that exist, by the name asked for; skipped
    tells of those that exist but are over a bound (name, reason)."""

    compile: Outcome | None
    run: Outcome | None
    files: tuple[File, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
