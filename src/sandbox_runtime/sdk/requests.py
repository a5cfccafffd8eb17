"""HTTP requests as values, and parsing of their responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from sandbox_runtime.errors import InvalidRequest, PlatformFault

_MAX_CONNECT_S = 30.0
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    content: bytes | None = None
    file: tuple[str, BinaryIO] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    idempotent: bool = True
    """Sending it twice has the same effect as sending it once."""
    timeout_s: float | None = None
    """How long the response may take; None: the transport's default."""
    is_client_timeout: bool = False
    """The timeout is the caller's `client_timeout`: it covers connecting too and is never retried."""

    def options(self, default_timeout_s: float | None) -> dict[str, Any]:
        """Return the keyword arguments of httpx."""
        timeout_s = default_timeout_s if self.timeout_s is None else self.timeout_s
        connect_s = None if default_timeout_s is None else min(_MAX_CONNECT_S, default_timeout_s)
        return {
            "params": {name: value for name, value in self.query.items() if value is not None},
            "json": None if self.body is None else dict(self.body),
            "content": self.content,
            "files": None if self.file is None else {"file": self.file},
            "headers": dict(self.headers),
            "timeout": httpx.Timeout(timeout_s, connect=connect_s),
        }


def parse_response(model: TypeAdapter[Result], response: httpx.Response) -> Result:
    try:
        return model.validate_json(response.content or b"null")
    except ValidationError as error:
        raise PlatformFault(f"{response.url} returned an unexpected response: {error}") from error


def quote_name(value: str, what: str) -> str:
    """Return a name as one segment of a URL path. Raises InvalidRequest for an invalid one."""
    if not value or value in (".", "..") or len(value) > 1024:
        raise InvalidRequest(f"{value[:60]!r} is not a valid {what} id")
    return quote(value, safe="")


def quote_path(path: str) -> str:
    """Return a workspace path as the end of a URL path. Raises InvalidRequest for a path outside the workspace."""
    parts = [part for part in path.removeprefix("/workspace/").split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        raise InvalidRequest(f"{path!r} is not a file of the workspace")
    return "/".join(quote(part, safe="") for part in parts)
