"""Cells to run one after another in one kernel, and what came of each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.job import File
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Outcome, Output

MAX_CELLS = 10_000
MAX_CELL_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Notebook:
    """limits.wall_s bounds all cells together; cell_wall_s each of them, None: none does."""

    cells: tuple[str, ...]
    files: tuple[File, ...] = ()
    fetch: tuple[str, ...] = ()
    cell_wall_s: float | None = None
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if len(self.cells) > MAX_CELLS:
            raise InvalidRequest(f"{len(self.cells)} cells are more than the {MAX_CELLS} that a notebook may have")
        seconds = self.cell_wall_s
        if seconds is not None and (math.isnan(seconds) or not 0 < seconds <= MAX_CELL_S):
            raise InvalidRequest(f"the time of a cell must be above 0 and at most {MAX_CELL_S:g} seconds, not {seconds!r}")


class CellEnding(StrEnum):
    """ok and error: it ran to its end, well or with an exception. timed_out: it was interrupted. killed: it did not heed that,
    and went with its kernel. died: its kernel ended under it. not_run: there was no kernel any more."""

    ok = "ok"
    error = "error"
    timed_out = "timed_out"
    killed = "killed"
    died = "died"
    not_run = "not_run"


@dataclass(frozen=True, slots=True)
class CellError:
    name: str
    text: str
    traceback: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CellResult:
    """displays: what the cell showed, each in one or more forms (media type → data), in order; dropped_displays: those that
    were over a bound."""

    ending: CellEnding
    stdout: Output
    stderr: Output
    displays: tuple[Mapping[str, Any], ...] = ()
    errors: tuple[CellError, ...] = ()
    dropped_displays: int = 0


@dataclass(frozen=True, slots=True)
class NotebookResult:
    """driver: what happened to the program that ran the cells. cells: one for each of the notebook's where complete, otherwise
    those that ended before the driver did. files and skipped: as in JobResult."""

    driver: Outcome
    cells: tuple[CellResult, ...]
    complete: bool
    files: tuple[File, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
