"""What is sent to have something executed. Pure."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from typing import Any


def idempotency_header() -> dict[str, str]:
    """With it a request that is sent again, after an answer that was lost, runs nothing twice."""
    return {"Idempotency-Key": uuid.uuid4().hex}


def round_up_s(timeout: float) -> int:
    """The protocol counts whole seconds: the next one up, so that nothing gets less than it asked for."""
    return max(1, math.ceil(timeout))


def execution_body(
    code: str,
    language: str,
    timeout: float,
    event: Mapping[str, Any] | None,
    stdin: str | None,
    env: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Only what was given: servers of the first releases know no more than the first four."""
    more = {"event": event, "stdin": stdin, "env_vars": dict(env) if env else None}
    given = {name: value for name, value in more.items() if value is not None}
    return {"code": code, "language": language, "timeout": round_up_s(timeout), **given}
