"""What happened to one command. A failing program is data; only a failing platform raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from sandbox_runtime.model.limits import Limits

_NO_CALLS: Mapping[str, int] = MappingProxyType({})


class Ending(StrEnum):
    exited = "exited"
    signaled = "signaled"
    timed_out = "timed_out"
    cpu_exceeded = "cpu_exceeded"
    out_of_memory = "out_of_memory"
    output_limit = "output_limit"
    disk_limit = "disk_limit"
    process_limit = "process_limit"
    denied = "denied"
    not_started = "not_started"
    cancelled = "cancelled"
    lost = "lost"


class Blame(StrEnum):
    """Who made it end that way: the program itself, a limit it ran into, the caller who stopped it or asked for the
    impossible, or this platform."""

    program = "program"
    limit = "limit"
    caller = "caller"
    platform = "platform"


BLAME_OF: Mapping[Ending, Blame] = MappingProxyType(
    {
        Ending.exited: Blame.program,
        Ending.signaled: Blame.program,
        Ending.timed_out: Blame.limit,
        Ending.cpu_exceeded: Blame.limit,
        Ending.out_of_memory: Blame.limit,
        Ending.output_limit: Blame.limit,
        Ending.disk_limit: Blame.limit,
        Ending.process_limit: Blame.limit,
        Ending.denied: Blame.program,
        Ending.not_started: Blame.caller,
        Ending.cancelled: Blame.caller,
        Ending.lost: Blame.platform,
    }
)


@dataclass(frozen=True, slots=True)
class Output:
    """What one stream carried: the whole of it, or its head and tail with the number of bytes between them that were dropped."""

    head: bytes = b""
    tail: bytes = b""
    dropped_bytes: int = 0

    @property
    def total_bytes(self) -> int:
        return len(self.head) + self.dropped_bytes + len(self.tail)

    def __bytes__(self) -> bytes:
        if not self.dropped_bytes:
            return self.head + self.tail
        note = f"\n[... {self.dropped_bytes} bytes dropped ...]\n".encode()
        return self.head + note + self.tail

    @property
    def text(self) -> str:
        return bytes(self).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a command used, read back from the kernel. None: this host gives no such figure."""

    wall_s: float = 0.0
    cpu_user_s: float = 0.0
    cpu_system_s: float = 0.0
    memory_peak_bytes: int | None = None
    processes_peak: int | None = None
    output_bytes: int = 0
    disk_bytes: int | None = None
    disk_files: int | None = None
    processes_refused: int | None = None
    denied_calls: Mapping[str, int] = field(default_factory=lambda: _NO_CALLS)

    @property
    def cpu_s(self) -> float:
        return self.cpu_user_s + self.cpu_system_s


@dataclass(frozen=True, slots=True)
class Outcome:
    ending: Ending
    exit_code: int | None = None
    signal: int | None = None
    stdout: Output = Output()
    stderr: Output = Output()
    usage: Usage = Usage()
    message: str = ""
    isolation: str = ""
    """Which backend ran it, and where layers were off, which: "namespaces", "none: no isolation", …"""
    limits: Limits | None = None
    """What it ran under; None where that is not known any more, or nothing ran."""
    cached: bool = False
    """The step was not taken this time: this is what came of it when it was, with what it used then."""

    @property
    def blame(self) -> Blame:
        return BLAME_OF[self.ending]

    @property
    def ok(self) -> bool:
        return self.ending is Ending.exited and self.exit_code == 0
