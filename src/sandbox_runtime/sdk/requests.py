"""A request as a value: what is sent where, and whether it may be sent twice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.sdk import exchange
from sandbox_runtime.sdk.exchange import Reply

_NEVER_STARTED = frozenset({429, 503})
"""Answers that say: nothing was done. Whatever was asked for may be asked for again."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Request:
    """repeatable: sending it twice does no more than sending it once. timeout_s: how long the answer may take; None: as usual."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content: bytes | None = None
    file: tuple[str, BinaryIO] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    timeout_s: float | None = None

    def options(self, usual_timeout_s: float) -> dict[str, Any]:
        """As httpx wants them."""
        return {
            "params": {name: value for name, value in self.query.items() if value is not None},
            "json": None if self.body is None else dict(self.body),
            "content": self.content,
            "files": None if self.file is None else {"file": self.file},
            "headers": dict(self.headers),
            "timeout": httpx.Timeout(self.timeout_s or usual_timeout_s, connect=min(30.0, usual_timeout_s)),
        }


class Attempts:
    """Of one request: how often it was tried, and how long to wait before the next time."""

    def __init__(self, url: str, most: int, *, repeatable: bool) -> None:
        self._url = url
        self._left = most
        self._repeatable = repeatable
        self._pause_s = exchange.FIRST_PAUSE_S

    def pause_after(self, reply: Reply) -> float:
        """Raises when there is no further attempt to make."""
        self._left -= 1
        if self._left < 1 or not self._worthwhile(reply):
            raise exchange.fault_of(self._url, reply)
        usual_s, self._pause_s = self._pause_s, self._pause_s * 2
        return exchange.pause_s(reply, usual_s)

    def _worthwhile(self, reply: Reply) -> bool:
        if reply.status in exchange.AGAIN:
            return self._repeatable or reply.status in _NEVER_STARTED
        return reply.again


def reply_of(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.content, _seconds(response.headers.get("Retry-After", "")))


def failure_of(error: httpx.TransportError, *, repeatable: bool) -> Reply:
    """What never reached the server may always be sent again; what broke off later only where twice is no more than once."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return Reply(failure=f"cannot be reached: {str(error) or type(error).__name__}", again=True)
    if isinstance(error, httpx.TimeoutException):
        return Reply(failure="no answer in time")
    return Reply(failure=f"the connection broke: {str(error) or type(error).__name__}", again=repeatable)


def read(answer: TypeAdapter[Result], response: httpx.Response) -> Result:
    try:
        return answer.validate_json(response.content or b"null")
    except ValidationError as error:
        raise PlatformFault(f"{response.url} gave an answer of another shape: {error}") from error


def named(value: str, what: str) -> str:
    """A name as one part of an address."""
    if not value or value in (".", "..") or len(value) > 1024:
        raise InvalidRequest(f"{value[:60]!r} is no {what}")
    return quote(value, safe="")


def file_path(path: str) -> str:
    """A path in a workspace as the end of an address; what leads out of it is refused before it is sent."""
    parts = [part for part in path.removeprefix("/workspace/").split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        raise InvalidRequest(f"{path!r} names no file of the workspace")
    return "/".join(quote(part, safe="") for part in parts)


def _seconds(text: str) -> float:
    """0 for what is no number: dates are allowed in that header, but our servers send none."""
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
