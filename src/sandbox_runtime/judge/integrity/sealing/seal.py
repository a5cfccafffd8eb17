"""What a seal is: the program to run instead, and how its end is recognised."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sandbox_runtime.model import File, Job, JobResult, Output

TOKEN_FILE, END_FILE = ".sandbox-token", ".sandbox-end"
"""For runners of tests that keep standard input and output to themselves."""


class Asks(StrEnum):
    """Where the sealed program finds the token that it has to show."""

    stdin = "stdin"
    file = "file"
    nothing = "nothing"
    """Its test runner prints a summary."""


Read = Callable[[JobResult, str], tuple[bool, Output]]
"""(result, token) → whether the end was shown, and what was printed without it."""


@dataclass(frozen=True, slots=True)
class Seal:
    job: Job
    read: Read
    asks: Asks = Asks.stdin

    def with_token(self, token: str) -> Job:
        """The job to run. The text of its program is the same in each trial."""
        text = f"{token}\n".encode()
        if self.asks is Asks.stdin:
            return dataclasses.replace(self.job, stdin=text)
        if self.asks is Asks.file:
            files = (*self.job.files, File(TOKEN_FILE, text))
            return dataclasses.replace(self.job, files=files, fetch=(*self.job.fetch, END_FILE))
        return self.job


def recoded(job: Job, code: str, read: Read | None = None) -> Seal:
    """The same job with another text, which prints the token."""
    return Seal(dataclasses.replace(job, code=code), read or token_printed)


def token_printed(result: JobResult, token: str) -> tuple[bool, Output]:
    """On lines of its own; what runs at the very end of a process may still print after it."""
    assert result.run is not None
    stdout, mark = result.run.stdout, f"\n{token}\n".encode()
    part = stdout.tail if stdout.dropped_bytes else stdout.head + stdout.tail
    before, found, after = part.rpartition(mark)
    if not found:
        return False, stdout
    kept = before + after
    return True, Output(stdout.head, kept, stdout.dropped_bytes) if stdout.dropped_bytes else Output(kept)


def token_filed(result: JobResult, token: str) -> tuple[bool, Output]:
    assert result.run is not None
    held = {file.name: file.content for file in result.files}
    return held.get(END_FILE, b"").strip() == token.encode(), result.run.stdout
