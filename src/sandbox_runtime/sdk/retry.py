"""When a failed request is sent again, how long to wait before, and which error to raise when it is not."""

from __future__ import annotations

import contextlib
import json
import math
import random
from dataclasses import dataclass

import httpx

from sandbox_runtime.errors import (
    Conflict,
    Denied,
    InvalidRequest,
    NotFound,
    PlatformFault,
    RequestError,
    SandboxError,
    StorageFull,
    TooMany,
    Unavailable,
)

RETRYABLE_STATUSES = frozenset({429, 502, 503, 504})
_NOT_STARTED_STATUSES = frozenset({429, 503})
"""The server did nothing, so that even a request that is not idempotent may be sent again."""
FIRST_DELAY_S, MAX_DELAY_S = 0.5, 60.0
_STORAGE_FULL = 507
_UNAVAILABLE = (408, 501)
_REQUEST_ERRORS: dict[int, type[RequestError]] = {401: Denied, 403: Denied, 404: NotFound, 409: Conflict}
_MESSAGE_KEYS = ("detail", "message", "description", "error")
"""Where the HTTP interfaces put their error message."""
_MAX_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """An error response, or no response at all."""

    status: int = 0
    """0: no response."""
    body: bytes = b""
    retry_after_s: float = 0.0
    reason: str = ""
    """Why there is no response."""
    retryable: bool = False
    """Without a response: whether another attempt may help."""

    @classmethod
    def from_response(cls, response: httpx.Response) -> FailedAttempt:
        return cls(response.status_code, response.content, _parse_seconds(response.headers.get("Retry-After", "")))

    @classmethod
    def from_error(cls, error: httpx.TransportError, *, idempotent: bool, is_client_timeout: bool) -> FailedAttempt:
        """A request that never reached the server may always be sent again; one that broke off later only if it is idempotent.

        A timeout is not retried: the server cancelled the work, and would take as long again. `is_client_timeout`: the caller's
        limit covers connecting too.
        """
        if is_client_timeout and isinstance(error, httpx.TimeoutException):
            return cls(reason="no response within client_timeout")
        text = str(error) or type(error).__name__
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
            return cls(reason=f"cannot be reached: {text}", retryable=True)
        if isinstance(error, httpx.TimeoutException):
            return cls(reason="no response in time")
        return cls(reason=f"the connection broke: {text}", retryable=idempotent)


class Retries:
    """The attempts of one request."""

    def __init__(self, url: str, max_attempts: int, *, idempotent: bool) -> None:
        self._url = url
        self._left = max_attempts
        self._idempotent = idempotent
        self._delay_s = FIRST_DELAY_S

    def next_delay_s(self, failed: FailedAttempt) -> float:
        """Return how long to wait before the next attempt, or raise the error if there is none."""
        self._left -= 1
        if self._left < 1 or not self._is_worthwhile(failed):
            raise to_error(self._url, failed)
        delay_s, self._delay_s = self._delay_s, self._delay_s * 2
        # Jitter: clients that failed together must not come back together.
        return min(max(failed.retry_after_s, delay_s * random.uniform(0.5, 1.5)), MAX_DELAY_S)

    def _is_worthwhile(self, failed: FailedAttempt) -> bool:
        if failed.status in RETRYABLE_STATUSES:
            return self._idempotent or failed.status in _NOT_STARTED_STATUSES
        return failed.retryable


def to_error(url: str, failed: FailedAttempt) -> SandboxError:
    if not failed.status:
        return Unavailable(f"{url}: {failed.reason}")
    text = f"{url} returned {failed.status}: {_message(failed.body)}"
    if failed.status in RETRYABLE_STATUSES:
        return TooMany(text, failed.retry_after_s or 1.0)
    if failed.status == _STORAGE_FULL:
        return StorageFull(text, failed.retry_after_s or 1.0)
    if failed.status in _UNAVAILABLE:
        return Unavailable(text)
    if 400 <= failed.status < 500:
        return _REQUEST_ERRORS.get(failed.status, InvalidRequest)(text)
    return PlatformFault(text)


def _message(body: bytes) -> str:
    text = body.decode(errors="replace")
    with contextlib.suppress(ValueError):
        text = _find_message(json.loads(text)) or text
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"


def _find_message(body: object) -> str:
    """Return the first message at any depth; without one, the whole body."""
    if isinstance(body, str):
        return body
    if isinstance(body, dict):
        value = next((body[key] for key in _MESSAGE_KEYS if body.get(key)), None)
        if value is not None:
            return _find_message(value)
    return json.dumps(body, ensure_ascii=False)


def _parse_seconds(text: str) -> float:
    """Return the value of Retry-After, or 0 if it is not a number: our servers never send dates."""
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
