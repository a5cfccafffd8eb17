"""The message that a program sends when it ends. It is as untrusted as any other output."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sandbox_runtime.engine.notebook.transcript import parse, replace_surrogates
from sandbox_runtime.model.bounds import TEXT_BYTES

MESSAGE_BYTES = 2 * TEXT_BYTES + 64 * 1024
"""A value travels as JSON in a JSON string, so each of its quotes may take two bytes."""
STATUSES = ("ok", "not_loaded", "raised", "not_serializable")
_MAX_ERROR_CHARACTERS = 2000
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class HandlerResult:
    """The result of a handler or script."""

    status: str
    """One of STATUSES."""
    value_json: str | None = None
    """The returned value; None if there is none."""
    error: str = ""


def parse_result(text: bytes | None) -> HandlerResult | None:
    """Parse a message. Returns None if it is malformed."""
    event = parse(text) if text is not None else None
    if event is None or event.get("how") not in STATUSES:
        return None
    error = event.get("error")
    result = HandlerResult(
        str(event["how"]), None, replace_surrogates(error)[:_MAX_ERROR_CHARACTERS] if isinstance(error, str) else ""
    )
    value = event.get("value")
    return result if value is None else _with_value(result, value)


def _with_value(result: HandlerResult, value: object) -> HandlerResult:
    if not isinstance(value, str) or not _is_json(value):
        return HandlerResult("not_serializable", None, "the value is not JSON")
    value = replace_surrogates(value)
    if len(value.encode()) > TEXT_BYTES:
        return HandlerResult("not_serializable", None, f"the value is larger than {TEXT_BYTES} bytes as JSON")
    return HandlerResult(result.status, value, result.error)


def _is_json(text: str) -> bool:
    """Whether the text is JSON, and not too deep for later readers."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return text.count("[") + text.count("{") <= _MAX_DEPTH or _is_shallow(value)


def _is_shallow(value: object) -> bool:
    """Check the depth level by level, without recursion."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        inner = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [part for parts in inner for part in parts]
        if not level:
            return True
    return False


def _refuse(name: str) -> None:
    raise ValueError(name)
