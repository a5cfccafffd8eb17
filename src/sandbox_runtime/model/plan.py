"""What a language does with code: files to write, steps to take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox_runtime.model.job import File


@dataclass(frozen=True, slots=True)
class Step:
    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Write files into the workspace, put the links there (name, target), then take the steps in order; run is the one that gets
    stdin. refused tells why the steps cannot even be tried."""

    files: tuple[File, ...]
    compile: Step | None
    run: Step
    preset: str = "std"
    links: tuple[tuple[str, str], ...] = ()
    refusal: str = ""
