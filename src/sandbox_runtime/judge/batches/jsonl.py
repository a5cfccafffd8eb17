"""The JSON lines of a batch: completions as input, results as output."""

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
    id: int | str
    completion: str
    sample: int | str | None = None
    """Which of several completions of one problem this is. Only repeated in the result."""
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LineResult:
    """One line of the results file."""

    index: int
    """Number of the completion's line, from 0."""
    id: int | str
    sample: int | str | None
    reason: Reason
    fields: Mapping[str, Any]

    @property
    def json_line(self) -> bytes:
        content = {"index": self.index, "id": self.id}
        if self.sample is not None:
            content["sample"] = self.sample
        return json.dumps(content | dict(self.fields), ensure_ascii=False).encode(errors="replace") + b"\n"


def read_line(raw: bytes, number: int) -> BatchLine:
    """Parse a line. number: of the line, from 0, for errors. Raises InvalidRequest."""
    check_json_values(raw, f"line {number + 1}")
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"line {number + 1} is not JSON: {str(error)[:200]}") from error
    if not isinstance(content, dict):
        raise InvalidRequest(f"line {number + 1} must be an object with id and completion")
    unknown = set(content) - _KEYS
    if unknown:
        field = sorted(unknown)[0][:60]
        raise InvalidRequest(f"line {number + 1}: unknown field {field!r}; allowed: id, completion, sample, config")
    if not _is_id(content.get("id")):
        raise InvalidRequest(f"line {number + 1} needs an id: a number, or a text of at most {_ID_CHARACTERS} characters")
    if not isinstance(content.get("completion"), str):
        raise InvalidRequest(f"line {number + 1} needs a completion: a text")
    sample, config = content.get("sample"), content.get("config")
    if sample is not None and not _is_id(sample):
        raise InvalidRequest(f"line {number + 1}: sample must be a number or a text of at most {_ID_CHARACTERS} characters")
    if config is not None and not isinstance(config, dict):
        raise InvalidRequest(f"line {number + 1}: config must be an object")
    return BatchLine(content["id"], content["completion"], sample, config)


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
    """Return the end of standard error of a failed run or compilation, which holds the traceback."""
    outcome = (case.run or case.compile) if case is not None else None
    return outcome.stderr.text[-_STDERR_CHARACTERS:] if outcome is not None else ""


def refused_line(index: int, line: BatchLine, message: str) -> LineResult:
    """Return the result of a completion that cannot be judged as sent, such as one with an unknown id or invalid options."""
    fields = {"accepted": False, "reason": Reason.not_judged.value, "blame": "caller", "message": message[:500]}
    return LineResult(index, line.id, line.sample, Reason.not_judged, fields)
