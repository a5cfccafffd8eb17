"""Notebooks between the wire and the model, both ways. Pure."""

from __future__ import annotations

import base64

from sandbox_runtime.api.dialects.fusion.mapping.output_text import decoded
from sandbox_runtime.api.dialects.fusion.mapping.programs import command_of, files_of, limits_of, memory_of, overall
from sandbox_runtime.api.dialects.fusion.schemas.notebooks import RunJupyterRequest
from sandbox_runtime.api.dialects.fusion.schemas.programs import Json
from sandbox_runtime.engine import RequestLimits
from sandbox_runtime.model import Ending
from sandbox_runtime.model.notebook import CellResult, Notebook, NotebookResult


def notebook_of(request: RunJupyterRequest, allowance: RequestLimits) -> Notebook:
    memory_bytes = memory_of(request.memory_limit_MB, allowance)
    return Notebook(
        cells=tuple(request.cells),
        files=files_of(request.files),
        fetch=tuple(request.fetch_files),
        cell_wall_s=request.cell_timeout or None,
        limits=limits_of(allowance, "total_timeout", request.total_timeout, memory_bytes),
    )


def answer_of(result: NotebookResult, notebook: Notebook, pod_name: str) -> Json:
    """The driver's own output is not the caller's affair; what they see of it are the cells. The protocol gives none where the
    driver did not finish."""
    driver = {**command_of(result.driver, notebook.limits), "stdout": ""}
    status, message = overall([driver])
    if not result.complete and status != "SandboxError":
        status, message = "Failed", f"the notebook did not finish: {result.driver.message or _ended(result.driver.ending)}"
    cells = [_cell(cell) for cell in result.cells]
    return {
        "status": status,
        "message": message,
        "driver": driver,
        "cells": cells if result.complete else [],
        "executor_pod_name": pod_name or None,
        "files": {file.name: base64.b64encode(file.content).decode() for file in result.files},
        "skipped_files": dict(result.skipped),
        "partial_cells": [] if result.complete else cells,
    }


def fault_of(message: str, pod_name: str) -> Json:
    """The answer when nothing ran."""
    return {
        "status": "SandboxError",
        "message": message,
        "driver": None,
        "cells": [],
        "executor_pod_name": pod_name or None,
        "files": {},
        "skipped_files": {},
        "partial_cells": [],
    }


def _ended(ending: Ending) -> str:
    """Nothing but a cell ends the driver before it is done."""
    return f"a cell ended the program that runs the cells ({ending.value})"


def _cell(cell: CellResult) -> Json:
    return {
        "stdout": decoded(cell.stdout),
        "stderr": decoded(cell.stderr) + _note(cell.dropped_displays),
        "display": list(cell.displays),
        "error": [{"ename": error.name, "evalue": error.text, "traceback": list(error.traceback)} for error in cell.errors],
    }


def _note(dropped: int) -> str:
    """The protocol has no other place for it."""
    return f"[sandbox] {dropped} displays were dropped: too many, or too large\n" if dropped else ""
