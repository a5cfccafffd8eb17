"""What a seal is: the program to run instead, and how its end is recognised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox_runtime.model import Job, Outcome, Output

Read = Callable[[Outcome, str], tuple[bool, Output]]
"""(outcome of the run, token) → whether the end was shown, and what was printed without it."""


@dataclass(frozen=True, slots=True)
class Seal:
    """asks: the program reads the token from standard input; otherwise it prints a summary of its own accord."""

    job: Job
    read: Read
    asks: bool = True


def token_printed(run: Outcome, token: str) -> tuple[bool, Output]:
    """As the last thing, on a line of its own; what runs at the very end of a process may still print after it."""
    mark = f"\n{token}\n".encode()
    stdout = run.stdout
    part = stdout.tail if stdout.dropped_bytes else stdout.head + stdout.tail
    before, found, after = part.rpartition(mark)
    if not found:
        return False, stdout
    kept = before + after
    return True, Output(stdout.head, kept, stdout.dropped_bytes) if stdout.dropped_bytes else Output(kept)
