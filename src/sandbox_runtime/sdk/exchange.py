"""One call, with all its attempts, as steps that somebody else takes.

The core knows what to send, when to try again and what an answer means, and does no input or output: it is asked for the next
step and told what came of it. Two short drivers take the steps, one blocking and one not; nothing else is there twice.
"""

from __future__ import annotations

import contextlib
import json
import random
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

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

AGAIN = frozenset({429, 502, 503, 504})
"""Answers that mean: not now."""
_STORAGE_FULL = 507
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 60.0
_TOLD_CHARACTERS = 500
_REFUSALS: dict[int, type[RequestError]] = {401: Denied, 403: Denied, 404: NotFound, 409: Conflict}
_UNAVAILABLE = (408, 501)
_TOLD_UNDER = ("detail", "message", "description", "error")
"""Where the dialects have their complaint."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Send:
    url: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a Send. status 0: nothing; then failure tells why, and again whether another attempt may help."""

    status: int = 0
    body: bytes = b""
    retry_after_s: float = 0.0
    failure: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    url: str
    request: BaseModel
    answer: TypeAdapter[Result]
    max_attempts: int
    client_timeout: float | None

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise InvalidRequest(f"max_attempts must be at least 1, not {self.max_attempts}")
        if self.client_timeout is not None and not self.client_timeout > 0:
            raise InvalidRequest(f"client_timeout must be above 0 seconds, not {self.client_timeout:g}")


class Exchange(Generic[Result]):
    """A call on its way: next_step until it returns None, each Send answered by take; then there is a result."""

    def __init__(self, call: Call[Result]) -> None:
        self.call = call
        self.result: Result
        self._send = Send(call.url, call.request.model_dump_json().encode())
        self._next: Send | Pause | None = self._send
        self._left = call.max_attempts
        self._pause_s = FIRST_PAUSE_S

    def next_step(self) -> Send | Pause | None:
        step = self._next
        if isinstance(step, Pause):
            self._next = self._send
        return step

    def take(self, reply: Reply) -> None:
        """Raises when there is no further attempt to make."""
        self._left -= 1
        if reply.status == 200:
            self.result, self._next = self._read(reply.body), None
        elif self._left and (reply.again or reply.status in AGAIN):
            self._next = Pause(pause_s(reply, self._pause_s))
            self._pause_s *= 2
        else:
            raise fault_of(self.call.url, reply)

    def _read(self, body: bytes) -> Result:
        try:
            return self.call.answer.validate_json(body)
        except ValidationError as error:
            raise PlatformFault(f"{self.call.url} gave an answer of another shape: {error}") from error


def pause_s(reply: Reply, usual_s: float) -> float:
    """As long as the server asks for, or about the usual time: clients that failed together must not come back together."""
    return min(max(reply.retry_after_s, usual_s * random.uniform(0.5, 1.5)), LONGEST_PAUSE_S)


def fault_of(url: str, reply: Reply) -> SandboxError:
    if not reply.status:
        return Unavailable(f"{url}: {reply.failure}")
    told = f"{url} answered {reply.status}: {_detail(reply.body)}"
    if reply.status in AGAIN:
        return TooMany(told, reply.retry_after_s or 1.0)
    if reply.status == _STORAGE_FULL:
        return StorageFull(told, reply.retry_after_s or 1.0)
    if reply.status in _UNAVAILABLE:
        return Unavailable(told)
    if 400 <= reply.status < 500:
        return _REFUSALS.get(reply.status, InvalidRequest)(told)
    return PlatformFault(told)


def _detail(body: bytes) -> str:
    text = body.decode(errors="replace")
    with contextlib.suppress(ValueError):
        text = _complaint(json.loads(text)) or text
    return text if len(text) <= _TOLD_CHARACTERS else f"{text[:_TOLD_CHARACTERS]}…"


def _complaint(answer: object) -> str:
    """The first sentence meant for people, at any depth; else all of it."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, dict):
        found = next((answer[key] for key in _TOLD_UNDER if answer.get(key)), None)
        if found is not None:
            return _complaint(found)
    return json.dumps(answer, ensure_ascii=False)
