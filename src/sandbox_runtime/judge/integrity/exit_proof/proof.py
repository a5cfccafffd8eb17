"""What a seal is: the program to run instead, and how its end is recognised.

A sealed program prints a prompt after its last test, reads the token from standard input, and prints it. The judge sends the
token only when it sees the prompt, so the token is in no text, file, variable or memory of the box before. The prompt is made of
two halves that stand in the program's text in the wrong order, and is the same in each trial, so that a build can be reused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from sandbox_runtime.model import Job, JobResult, Output, Reply

_HALF_DIGITS = 16


class ProofKind(StrEnum):
    """How the sealed program gets the token that it has to show."""

    stdin = "stdin"
    nothing = "nothing"
    """Its test runner prints a summary."""


Read = Callable[[JobResult, str], tuple[bool, Output]]
"""(result, token) → whether the end was shown, and what was printed without it."""


@dataclass(frozen=True, slots=True)
class ExitProof:
    job: Job
    read: Read
    asks: ProofKind = ProofKind.stdin
    prompt: str = ""

    def with_token(self, token: str) -> Job:
        """The job to run. The text of its program is the same in each trial."""
        if self.asks is ProofKind.nothing:
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
