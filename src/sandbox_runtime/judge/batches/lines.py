"""The lines of a batch, one JSON object each: completions on the way in, results on the way out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import CaseVerdict, Reason, Verdict
from sandbox_runtime.model.bounds import check_json_values

_KEYS = {"id", "completion", "sample", "config"}
_STDERR_CHARACTERS = 2000
_ID_CHARACTERS = 512


@dataclass(frozen=True, slots=True)
class BatchLine:
    """sample: which of several completions of one problem it is; told back, and nothing more."""

    id: int | str
    completion: str
    sample: int | str | None = None
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LineResult:
    """What the file of results holds of one completion. index: the number of its line, from 0."""

    index: int
    id: int | str
    sample: int | str | None
    reason: Reason
    fields: Mapping[str, Any]

    @property
    def text(self) -> bytes:
        found = {"index": self.index, "id": self.id}
        if self.sample is not None:
            found["sample"] = self.sample
        return json.dumps(found | dict(self.fields), ensure_ascii=False).encode(errors="replace") + b"\n"


def read_line(raw: bytes, number: int) -> BatchLine:
    """number: of the line, from 0, for the error. Raises InvalidRequest."""
    check_json_values(raw, f"line {number + 1}")
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"line {number + 1} is no JSON: {str(error)[:200]}") from error
    if not isinstance(told, dict):
        raise InvalidRequest(f"line {number + 1} must be an object with id and completion")
    unknown = set(told) - _KEYS
    if unknown:
        raise InvalidRequest(f"line {number + 1} has {sorted(unknown)[0][:60]!r}; a line has id, completion, sample and config")
    if not _is_id(told.get("id")):
        raise InvalidRequest(f"line {number + 1} needs an id: a number, or a text of at most {_ID_CHARACTERS} characters")
    if not isinstance(told.get("completion"), str):
        raise InvalidRequest(f"line {number + 1} needs a completion: a text")
    sample, config = told.get("sample"), told.get("config")
    if sample is not None and not _is_id(sample):
        raise InvalidRequest(f"line {number + 1}: sample must be a number or a text of at most {_ID_CHARACTERS} characters")
    if config is not None and not isinstance(config, dict):
        raise InvalidRequest(f"line {number + 1}: config must be an object")
    return BatchLine(told["id"], told["completion"], sample, config)


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _ID_CHARACTERS
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def to_line_result(index: int, line: BatchLine, verdict: Verdict, groups: Mapping[str, str], wall_s: float) -> LineResult:
    fields: dict[str, Any] = {
        "accepted": verdict.accepted,
        "reason": verdict.reason.value,
        "blame": verdict.blame.value if verdict.blame else None,
        "passed": sum(case.passed for case in verdict.cases),
        "cases": len(verdict.cases),
        "wall_s": round(wall_s, 4),
    }
    fields |= {name: value for name, value in _optional_fields(verdict, groups) if value}
    return LineResult(index, line.id, line.sample, verdict.reason, fields)


def _optional_fields(verdict: Verdict, groups: Mapping[str, str]) -> tuple[tuple[str, Any], ...]:
    failed = next((case for case in verdict.cases if not case.passed), None)
    message = verdict.message or (failed.message if failed else "")
    return (
        ("message", message[:500]),
        ("tamper", list(verdict.tamper)),
        ("groups", dict(groups)),
        ("guard", verdict.extra.get("guard")),
        ("stderr", _stderr_tail(failed)),
    )


def _stderr_tail(case: CaseVerdict | None) -> str:
    """The end of what a failed run or compilation wrote to standard error: the traceback."""
    ended = (case.run or case.compile) if case is not None else None
    return ended.stderr.text[-_STDERR_CHARACTERS:] if ended is not None else ""


def refused_line(index: int, line: BatchLine, message: str) -> LineResult:
    """A completion that cannot be judged as it was sent: an unknown id, options that do not fit. Nobody's answer is wrong."""
    told = {"accepted": False, "reason": Reason.not_judged.value, "blame": "caller", "message": message[:500]}
    return LineResult(index, line.id, line.sample, Reason.not_judged, told)
