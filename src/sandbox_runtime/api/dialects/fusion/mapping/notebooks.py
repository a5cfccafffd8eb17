"""Map /run_jupyter requests to notebooks, and results to response bodies. Pure."""

from __future__ import annotations

import base64

from sandbox_runtime.api.dialects.fusion.mapping.programs import (
    command_body,
    decode_output,
    overall_status,
    to_files,
    to_limits,
    to_memory_bytes,
)
from sandbox_runtime.api.dialects.fusion.schemas.notebooks import RunJupyterRequest
from sandbox_runtime.api.dialects.fusion.schemas.programs import Json
from sandbox_runtime.engine import RequestLimits
from sandbox_runtime.model import Ending
from sandbox_runtime.model.notebook import CellResult, Notebook, NotebookResult


def to_notebook(request: RunJupyterRequest, request_limits: RequestLimits) -> Notebook:
    memory_bytes = to_memory_bytes(request.memory_limit_MB, request_limits)
    return Notebook(
        cells=tuple(request.cells),
        files=to_files(request.files),
        fetch=tuple(request.fetch_files),
        cell_wall_s=request.cell_timeout or None,
        limits=to_limits(request_limits, "total_timeout", request.total_timeout, memory_bytes),
    )


def result_body(result: NotebookResult, notebook: Notebook, pod_name: str) -> Json:
    """Return the cells, without the output of the driver that runs them.

    If the driver did not finish, `cells` is empty, as the protocol has it, and `partial_cells` has those that did.
    """
    driver = {**command_body(result.driver, notebook.limits), "stdout": ""}
    status, message = overall_status([driver])
    if not result.complete and status != "SandboxError":
        status, message = "Failed", f"the notebook did not finish: {result.driver.message or _ending_text(result.driver.ending)}"
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


def fault_body(message: str, pod_name: str) -> Json:
    """Return the body for a notebook that did not run."""
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


def _ending_text(ending: Ending) -> str:
    """Only a cell can end the driver early."""
    return f"a cell ended the program that runs the cells ({ending.value})"


def _cell(cell: CellResult) -> Json:
    return {
        "stdout": decode_output(cell.stdout),
        "stderr": decode_output(cell.stderr) + _dropped_note(cell.dropped_displays),
        "display": list(cell.displays),
        "error": [{"ename": error.name, "evalue": error.text, "traceback": list(error.traceback)} for error in cell.errors],
    }


def _dropped_note(dropped: int) -> str:
    """Return a line for stderr: the protocol has no field for it."""
    return f"[sandbox] {dropped} displays were dropped: too many, or too large\n" if dropped else ""
