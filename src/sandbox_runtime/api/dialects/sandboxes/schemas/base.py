"""What the bodies share: base classes, types of fields, pages and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from sandbox_runtime.api.number_fields import Number, RequestModel
from sandbox_runtime.errors import InvalidRequest

MAX_TIMEOUT_S = 3600.0
Json = dict[str, JsonValue]
Text = Annotated[str, StringConstraints(max_length=1024 * 1024)]
Name = Annotated[str, StringConstraints(max_length=128)]
Path = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Seconds = Annotated[Number, Field(gt=0, le=MAX_TIMEOUT_S)]
Environment = Annotated[dict[str, Annotated[str, StringConstraints(max_length=32_768)]], Field(max_length=256)]


class StrictRequestModel(RequestModel, BaseModel):
    """Unknown fields are errors, so that a misspelled name is not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseModel(BaseModel):
    model_config = ConfigDict(frozen=True)


class SandboxErrorInfo(ResponseModel):
    code: int = Field(description="The HTTP status.")
    message: str
    details: Any = None
    timestamp: str
    request_id: str | None = None


class SandboxErrorResponse(ResponseModel):
    error: SandboxErrorInfo


class Pagination(ResponseModel):
    page_size: int
    page_offset: int
    has_next: bool
    has_prev: bool
    next_offset: int | None = None
    prev_offset: int | None = None


class PageResponse(ResponseModel):
    data: list[Any]
    pagination: Pagination
    total: int
    timestamp: str
    version: str


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which page of a list to return, and in which order."""

    size: int
    offset: int
    sort_by: str
    descending: bool

    def check_sort(self, allowed: tuple[str, ...]) -> None:
        if self.sort_by not in allowed:
            raise InvalidRequest(f"sort_by must be one of {', '.join(allowed)}, not {self.sort_by!r}")
