"""Parameters that routes share, and what they read from a request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request

from sandbox_runtime.api.caller import caller_of, check_admin, owner_of
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.sessions import Sessions

__all__ = ["Identifier", "Limit", "Offset", "caller_of", "check_admin", "idempotency_key", "owner_of", "sessions_of"]

MAX_LISTED = 200
Identifier = Annotated[str, Path(min_length=1, max_length=255)]
Limit = Annotated[int, Query(description=f"Clamped to 1 to {MAX_LISTED}.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]


def sessions_of(request: Request) -> Sessions:
    """Raises Unavailable if this server has no sessions."""
    return platform_of(request).sessions


def clamp_limit(limit: int) -> int:
    return max(1, min(limit, MAX_LISTED))


def idempotency_key(request: Request) -> str:
    return request.headers.get("idempotency-key", "")
