"""Parameters that routes share: path and query parameters, filters and the sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query, Request

from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.sessions import Sessions

MAX_PAGE_SIZE = 100
_FILTER_PREFIX = "filter_"
Identifier = Annotated[str, Path(min_length=1, max_length=255)]
PageSize = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE)]
PageOffset = Annotated[int, Query(ge=0, le=10_000_000)]
SortBy = Annotated[str, Query(max_length=32)]
SortOrder = Annotated[Literal["asc", "desc"], Query()]


def sessions_of(request: Request) -> Sessions:
    """Return the sessions. Raises Unavailable if this server has none."""
    return platform_of(request).sessions


def parse_filters(request: Request, allowed: tuple[str, ...]) -> dict[str, str]:
    """Return name → value of the query parameters filter_*. Raises InvalidRequest for an unknown name."""
    filters = {
        name.removeprefix(_FILTER_PREFIX): value
        for name, value in request.query_params.items()
        if name.startswith(_FILTER_PREFIX)
    }
    unknown = next((name for name in filters if name not in allowed), None)
    if unknown is not None:
        names = ", ".join(_FILTER_PREFIX + name for name in allowed)
        raise InvalidRequest(f"unknown filter {_FILTER_PREFIX}{unknown[:40]}; allowed are {names}")
    return {name: value for name, value in filters.items() if value}
