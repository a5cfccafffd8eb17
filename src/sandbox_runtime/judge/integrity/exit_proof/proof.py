"""What a seal is: the program to run instead, and how its end is recognised.

A sealed program prints a prompt after its last test, reads the token from standard input, and prints it. The judge sends the
token only when it sees the prompt, so the token is in no text, file, variable or memory of the box before. The prompt is made of
two halves that stand in the program's text in the wrong order, and is the same in each trial, so that a build can be reused.
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
# What is opened and never closed goes to the end: looking for its end again and again would take quadratic time.
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
"""(result, token) → whether the end was shown, and what was printed without it."""


@dataclass(frozen=True, slots=True)
class ExitProof:
    job: Job
    read: Read
    kind: ProofKind = ProofKind.token
    prompt: str = ""

    def with_token(self, token: str) -> Job:
        """The job to run. The text of its program is the same in each trial."""
        if self.kind is ProofKind.summary:
            return self.job
        return dataclasses.replace(self.job, stdin=None, reply=Reply(f"\n{self.prompt}\n".encode(), f"{token}\n".encode()))


def fill_prompt(template: str, job: Job) -> str:
    """Put the halves of the prompt of this job in the places of FIRST_HALF and SECOND_HALF."""
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
    """Whether the token follows the prompt, on lines of their own, and nothing else in the output asks for it. Code that runs
    when the process ends may still print after it."""
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
    """The same length, with blanks for comments and texts of languages that look like C."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), code)


def last_match(pattern: re.Pattern[str], code: str) -> re.Match[str] | None:
    """The last match outside of comments and texts, because tests and what starts them come last. Where all matches seem to be
    hidden, the last of them: what looks like the begin of a comment may be none, and hide the main function from us alone."""
    return _last(pattern, blank_comments(code)) or _last(pattern, code)


def closing_brace(code: str, start: int) -> int:
    """The place of the brace that closes the one before `start`, or -1."""
    depth = 1
    for found in re.compile(r"[{}]").finditer(blank_comments(code), start):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.start()
    return -1


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    matches = deque(pattern.finditer(text), maxlen=1)
    return matches[0] if matches else None
