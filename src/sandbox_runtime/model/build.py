"""What a compile step made, and what came of running that on many inputs."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.model.job import File
from sandbox_runtime.model.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Build:
    """files are those that the step made or changed in the workspace; laid over what was staged they are all a run needs."""

    outcome: Outcome
    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class MultiRunResult:
    """One outcome for each input, in their order; None for an input that was not run, because the compile step failed or because
    an earlier one did and the caller wanted no more."""

    compile: Outcome | None
    runs: tuple[Outcome | None, ...]

    @property
    def ok(self) -> bool:
        return all(run is not None and run.ok for run in self.runs)
