"""The end of an execution as fields of its row. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.engine.environments import RunResult
from sandbox_runtime.engine.handlers import exit_code
from sandbox_runtime.model import Blame, Ending, ExecutionKind, ExecutionState, Metering, Outcome, Output
from sandbox_runtime.model.bounds import MESSAGE_BYTES, TEXT_BYTES
from sandbox_runtime.model.execution import truncate_text
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.model.notebook import CellEnding, CellResult

Fields = dict[str, Any]
_MESSAGE_CHARACTERS = MESSAGE_BYTES // 4
_CELL_STATES = {CellEnding.ok: ExecutionState.completed, CellEnding.timed_out: ExecutionState.timeout}
_CELL_ENDINGS = {
    CellEnding.ok: Ending.exited,
    CellEnding.error: Ending.exited,
    CellEnding.timed_out: Ending.timed_out,
    CellEnding.killed: Ending.timed_out,
    CellEnding.died: Ending.signaled,
    CellEnding.not_run: Ending.not_started,
}


def from_run(kind: ExecutionKind, run: RunResult) -> Fields:
    outcome, handler = run.outcome, run.handler_result
    code = exit_code(outcome, handler) if kind is ExecutionKind.handler else outcome.exit_code
    return {
        "state": _state(kind, outcome, code),
        "exit_code": code,
        "signal": outcome.signal,
        "ending": outcome.ending,
        **_output_fields("stdout", outcome.stdout),
        **_output_fields("stderr", outcome.stderr),
        "return_value_json": handler.value_json if handler is not None else None,
        "error": ((handler.error if handler is not None else "") or outcome.message)[:_MESSAGE_CHARACTERS],
        "metering": _metering(outcome),
    }


def from_cell(cell: CellResult, wall_s: float) -> Fields:
    displays_json, dropped = _displays(cell.displays)
    errors = "; ".join(f"{error.name}: {error.text}" for error in cell.errors)
    if dropped + cell.dropped_displays:
        errors = f"{errors}; {dropped + cell.dropped_displays} displays were too large to be stored".removeprefix("; ")
    ok = cell.ending is CellEnding.ok
    return {
        "state": _CELL_STATES.get(cell.ending, ExecutionState.failed),
        "exit_code": 0 if ok else 1,
        "ending": _CELL_ENDINGS[cell.ending],
        **_output_fields("stdout", cell.stdout),
        **_output_fields("stderr", cell.stderr),
        "displays_json": displays_json,
        "error": errors[:_MESSAGE_CHARACTERS],
        "metering": Metering(duration_ms=wall_s * 1000),
    }


def from_fault(reason: str, stdout: str = "", stderr: str = "") -> Fields:
    """The platform failed: the result says nothing about the program."""
    return {"state": ExecutionState.crashed, "ending": Ending.lost, "error": reason, **_partial_output(stdout, stderr)}


def from_refusal(reason: str) -> Fields:
    """The request cannot be run."""
    return {"state": ExecutionState.failed, "ending": Ending.not_started, "error": reason}


def from_cancellation(stdout: str, stderr: str) -> Fields:
    return {
        "state": ExecutionState.cancelled,
        "ending": Ending.cancelled,
        "error": "it was cancelled",
        **_partial_output(stdout, stderr),
    }


def _state(kind: ExecutionKind, outcome: Outcome, code: int | None) -> ExecutionState:
    if outcome.blame is Blame.platform:
        return ExecutionState.crashed
    if outcome.ending is Ending.timed_out:
        return ExecutionState.timeout
    if outcome.ending is Ending.cancelled:
        return ExecutionState.cancelled
    return ExecutionState.completed if outcome.ending is Ending.exited and code == 0 else ExecutionState.failed


def _output_fields(name: str, output: Output) -> Fields:
    """Truncate to what the store keeps, and count what engine and store dropped."""
    text, dropped = truncate_text(output.text)
    return {name: text, f"{name}_dropped_bytes": dropped + output.dropped_bytes}


def _partial_output(stdout: str, stderr: str) -> Fields:
    return {"stdout": truncate_text(stdout)[0], "stderr": truncate_text(stderr)[0]}


def _metering(outcome: Outcome) -> Metering:
    usage = outcome.usage
    peak = usage.memory_peak_bytes
    return Metering(
        duration_ms=round(usage.wall_s * 1000, 3),
        cpu_time_ms=round(usage.cpu_s * 1000, 3),
        peak_memory_mb=None if peak is None else round(peak / MIB, 3),
    )


def _displays(displays: tuple[Mapping[str, Any], ...]) -> tuple[str | None, int]:
    """Return as many displays as fit, as JSON, and the number of dropped ones."""
    if not displays:
        return None, 0
    texts, room = [], TEXT_BYTES - 2
    for display in displays:
        text = json.dumps(display)
        room -= len(text) + 2
        if room < 0:
            break
        texts.append(text)
    return f"[{', '.join(texts)}]", len(displays) - len(texts)
