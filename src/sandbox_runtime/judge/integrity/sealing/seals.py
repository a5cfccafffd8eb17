"""Which language is sealed how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sandbox_runtime.judge.integrity.sealing.seal import Seal
from sandbox_runtime.model import Job

SEALS: Mapping[str, Callable[[Job], Seal | None]] = MappingProxyType({})


def seal_of(job: Job) -> Seal | None:
    """None: nothing more than the exit code can be asked of this program."""
    make = SEALS.get(job.language)
    return make(job) if make else None
