"""An exit proof: the program to run instead, and how its end is recognized.

The program prints a prompt after its last test, reads a token from standard input, and prints it. The judge sends the token only
when it sees the prompt, so the token is in no text, file, variable or memory of the box before. The prompt consists of two halves
that are in the program's text in the wrong order, and is the same in each trial, so that a build can be reused.
"""

from __future__ import annotations

import dataclasses
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from sandbox_runtime.model import Job, JobResult, Output, Reply

_HALF_DIGITS = 16
# An unterminated string or comment extends to the end: searching for its end repeatedly would take quadratic time.
_HIDDEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|R\"([^()\\\s]{0,16})\(.*?(?:\)\1\"|\Z)"
    r"|\"\"\".*?(?:\"\"\"|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])'",
    re.DOTALL,
)


class ProofKind(StrEnum):
    """How a program proves that its tests ran to the end."""

    token = "token"
    """It reads the token from standard input after its last test, and prints it."""
    summary = "summary"
    """Its test runner prints a summary."""


Read = Callable[[JobResult, str], tuple[bool, Output]]
"""(result, token) → whether the end is proven, and the output without the proof."""


@dataclass(frozen=True, slots=True)
class ExitProof:
    job: Job
    read: Read
    kind: ProofKind = ProofKind.token
    prompt: str = ""

    def with_token(self, token: str) -> Job:
        """Return the job to run. Its program text is the same in each trial."""
        if self.kind is ProofKind.summary:
            return self.job
        return dataclasses.replace(self.job, stdin=None, reply=Reply(f"\n{self.prompt}\n".encode(), f"{token}\n".encode()))


def fill_prompt(template: str, job: Job) -> str:
    """Replace FIRST_HALF and SECOND_HALF by the halves of this job's prompt."""
    first, second = _prompt_halves(job)
    return template.replace("FIRST_HALF", first).replace("SECOND_HALF", second)


def proof_with_code(job: Job, code: str, also: Callable[[Output], bool] | None = None) -> ExitProof:
    """ExitProof the job with another text, which asks for the token and prints it. also: what else its output has to show."""
    first, second = _prompt_halves(job)
    prompt = second + first

    def read(result: JobResult, token: str) -> tuple[bool, Output]:
        shown, stdout = find_token(result, prompt, token)
        return shown and (also is None or also(stdout)), stdout

    return ExitProof(dataclasses.replace(job, code=code), read, prompt=prompt)


def find_token(result: JobResult, prompt: str, token: str) -> tuple[bool, Output]:
    """Return whether the token follows the prompt, on separate lines, and the prompt occurs nowhere else; and the rest of the
    output. Exit handlers may still print after it."""
    assert result.run is not None
    stdout = result.run.stdout
    part = stdout.tail if stdout.dropped_bytes else stdout.head + stdout.tail
    before, found, after = part.rpartition(f"\n{prompt}\n{token}\n".encode())
    if not found:
        return False, stdout
    kept = before + after
    rest = Output(stdout.head, kept, stdout.dropped_bytes) if stdout.dropped_bytes else Output(kept)
    return prompt.encode() not in rest.head + rest.tail, rest


def _prompt_halves(job: Job) -> tuple[str, str]:
    digest = sha256(f"{job.language}\n{job.code}".encode(errors="surrogatepass")).hexdigest()
    return digest[:_HALF_DIGITS], digest[_HALF_DIGITS : 2 * _HALF_DIGITS]


def blank_comments(code: str) -> str:
    """Replace comments and strings of C-like languages by blanks of the same length."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), code)


def last_match(pattern: re.Pattern[str], code: str) -> re.Match[str] | None:
    """Return the last match outside of comments and strings, because tests come last. If all matches seem hidden, the last of
    them: what looks like the start of a comment may not be one."""
    return _last(pattern, blank_comments(code)) or _last(pattern, code)


def closing_brace(code: str, start: int) -> int:
    """Return the index of the brace that closes the one before `start`, or -1."""
    depth = 1
    for found in re.compile(r"[{}]").finditer(blank_comments(code), start):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    return -1


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    matches = deque(pattern.finditer(text), maxlen=1)
    return matches[0] if matches else None
