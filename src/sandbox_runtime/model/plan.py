"""What a language does with code: files to write, steps to take."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.model.job import File


@dataclass(frozen=True, slots=True)
class Step:
    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Write files into the workspace, then take the steps in order; run is the one that gets stdin."""

    files: tuple[File, ...]
    compile: Step | None
    run: Step
    preset: str = "std"
