"""A trial on its way into a box and what its runs say on their way out: the judge's side of integrity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox_runtime.judge.checkers import Found
from sandbox_runtime.model import Job, JobResult, Trial

_NONCE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Inspected:
    """A result without our marks, and what was found in it; None: nothing that speaks against it."""

    result: JobResult
    found: Found | None = None
    tamper: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sealed:
    """job and stdin: what is run; stdin None: that of each case. inspect is called with every result that is no fault of ours."""

    job: Job
    stdin: bytes | None
    inspect: Callable[[JobResult], Inspected]


def seal(trial: Trial) -> Sealed:
    return Sealed(trial.job, None, Inspected)
