"""Bodies and headers of execution requests."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from typing import Any


def idempotency_header() -> dict[str, str]:
    """Return a new idempotency key: a request that is retried after a lost response runs only once."""
    return {"Idempotency-Key": uuid.uuid4().hex}


def round_up_s(timeout: float) -> int:
    """Round up to whole seconds, which the protocol requires."""
    return max(1, math.ceil(timeout))


def execution_body(
    code: str,
    language: str,
    timeout: float,
    event: Mapping[str, Any] | None,
    stdin: str | None,
    env: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Return the body without unset fields, which older servers reject."""
    more = {"event": event, "stdin": stdin, "env_vars": dict(env) if env else None}
    given = {name: value for name, value in more.items() if value is not None}
    return {"code": code, "language": language, "timeout": round_up_s(timeout), **given}
