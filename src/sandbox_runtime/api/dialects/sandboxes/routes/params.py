"""What routes ask of a request: the verbs, the parts of addresses, the page that is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Path, Query, Request

from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.sessions import Sessions

MOST_LISTED = 100
_FILTER = "filter_"
Identifier = Annotated[str, Path(min_length=1, max_length=255)]
PageSize = Annotated[int, Query(ge=1, le=MOST_LISTED)]
PageOffset = Annotated[int, Query(ge=0, le=10_000_000)]
SortBy = Annotated[str, Query(max_length=32)]
SortOrder = Annotated[Literal["asc", "desc"], Query()]


@dataclass(frozen=True, slots=True)
class Wanted:
    """One page of a list."""

    size: int
    offset: int
    sort_by: str
    descending: bool

    def check(self, allowed: tuple[str, ...]) -> None:
        if self.sort_by not in allowed:
            raise InvalidRequest(f"sort_by is one of {', '.join(allowed)}, not {self.sort_by!r}")


def sessions_of(request: Request) -> Sessions:
    """Raises Unavailable where this server has none."""
    return platform_of(request).sessions


def filters_of(request: Request, allowed: tuple[str, ...]) -> dict[str, str]:
    """Name → what is looked for. Raises InvalidRequest for one that there is not: it would otherwise be passed over."""
    given = {name.removeprefix(_FILTER): value for name, value in request.query_params.items() if name.startswith(_FILTER)}
    unknown = next((name for name in given if name not in allowed), None)
    if unknown is not None:
        raise InvalidRequest(f"there is no {_FILTER}{unknown[:40]}; there are {', '.join(_FILTER + name for name in allowed)}")
    return {name: value for name, value in given.items() if value}
