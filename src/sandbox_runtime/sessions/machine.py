"""The life of a session as a pure function: what an event makes of it, and what is to be done then.

    creating ──Opened──▶ running ──Paused──▶ paused ──Resumed──▶ running
       │                    │                   │
       ├─OpenFailed, TookTooLong──▶ failed      │
       └────────────────────┴───────────────────┴─ Terminated ▶ terminated · Expired ▶ timeout · Idle ▶ terminated
                                                   Finished ▶ completed or failed · Lost ▶ failed

A session that has ended changes no more. Nobody decides twice: whoever performs a decision names the version it was made from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sandbox_runtime.errors import Conflict
from sandbox_runtime.model import Session, SessionMode, SessionState


class Effect(StrEnum):
    """close: end whatever runs in it and its files. drop: forget what was kept of its files. release: give its place on the node
    back. pause and resume: stop its processes for a while."""

    close = "close"
    release = "release"
    pause = "pause"
    resume = "resume"


@dataclass(frozen=True, slots=True)
class Opened:
    box: str = ""


@dataclass(frozen=True, slots=True)
class OpenFailed:
    reason: str


@dataclass(frozen=True, slots=True)
class TookTooLong:
    """It never came to run."""

    after_s: float


@dataclass(frozen=True, slots=True)
class Terminated:
    by: str = ""


@dataclass(frozen=True, slots=True)
class Expired:
    pass


@dataclass(frozen=True, slots=True)
class Idle:
    for_s: float


@dataclass(frozen=True, slots=True)
class Finished:
    """Its place ended by itself."""

    exit_code: int = 0
    reason: str = "normal"


@dataclass(frozen=True, slots=True)
class Lost:
    """The machine or the server that held it is gone."""

    reason: str


@dataclass(frozen=True, slots=True)
class Restored:
    """What was kept of it is at hand again."""


@dataclass(frozen=True, slots=True)
class Paused:
    pass


@dataclass(frozen=True, slots=True)
class Resumed:
    pass


Event = Opened | OpenFailed | TookTooLong | Terminated | Expired | Idle | Finished | Lost | Restored | Paused | Resumed
Decision = tuple[Session, tuple[Effect, ...]]
_ENDING = (Effect.close, Effect.release)
_ANY_LIVE = (SessionState.creating, SessionState.running, SessionState.paused)
_FROM: Mapping[type, tuple[SessionState, ...]] = {
    Opened: (SessionState.creating,),
    OpenFailed: (SessionState.creating,),
    TookTooLong: (SessionState.creating,),
    Restored: (SessionState.running, SessionState.paused),
    Paused: (SessionState.running,),
    Resumed: (SessionState.paused,),
    Idle: (SessionState.running,),
}


def decide(session: Session, event: Event, now_ms: int) -> Decision:
    """Raises Conflict for an event that the session's state does not allow."""
    allowed = _FROM.get(type(event), _ANY_LIVE)
    if session.state not in allowed:
        raise Conflict(f"the session {session.id!r} is {session.state}; that takes one that is {' or '.join(allowed)}")
    return _RULES[type(event)](session, event, now_ms)


def changes(before: Session, after: Session) -> dict[str, Any]:
    """The fields that a decision changed."""
    names = [field.name for field in dataclasses.fields(Session)]
    return {name: getattr(after, name) for name in names if getattr(before, name) != getattr(after, name)}


def _ended(session: Session, state: SessionState, error: str, now_ms: int) -> Decision:
    """The place on its node is counted from creation on. What is kept of a persistent session's files goes with the session's
    row, not before: its owner may want to see how it ended."""
    return dataclasses.replace(session, state=state, error=error, completed_ms=now_ms), _ENDING


def _opened(session: Session, event: Opened, now_ms: int) -> Decision:
    changed = dataclasses.replace(
        session, state=SessionState.running, box=event.box, started_ms=now_ms, last_activity_ms=now_ms, error=""
    )
    return changed, ()


def _finished(session: Session, event: Finished, now_ms: int) -> Decision:
    if event.exit_code == 0 and event.reason in ("normal", "sigterm"):
        return _ended(session, SessionState.completed, "", now_ms)
    error = f"its box ended by itself: {event.reason}, exit code {event.exit_code}"
    return _ended(session, SessionState.failed, error, now_ms)


def _lost(session: Session, event: Lost, now_ms: int) -> Decision:
    """A persistent session is worth as much as what was kept of it: Restored says that there is such."""
    return _ended(session, SessionState.failed, event.reason, now_ms)


def _restored(session: Session, event: Restored, now_ms: int) -> Decision:
    if session.mode is not SessionMode.persistent:
        raise Conflict(f"the session {session.id!r} is ephemeral: nothing of it was kept")
    return dataclasses.replace(session, state=SessionState.running, box="", error=""), ()


_RULES: Mapping[type, Callable[..., Decision]] = {
    Opened: _opened,
    OpenFailed: lambda session, event, now_ms: _ended(session, SessionState.failed, event.reason, now_ms),
    TookTooLong: lambda session, event, now_ms: _ended(
        session, SessionState.failed, f"it was not ready within {event.after_s:g} s", now_ms
    ),
    Terminated: lambda session, event, now_ms: _ended(session, SessionState.terminated, "", now_ms),
    Expired: lambda session, event, now_ms: _ended(session, SessionState.timeout, "its time was over", now_ms),
    Idle: lambda session, event, now_ms: _ended(
        session, SessionState.terminated, f"nothing was asked of it for {event.for_s:g} s", now_ms
    ),
    Finished: _finished,
    Lost: _lost,
    Restored: _restored,
    Paused: lambda session, event, now_ms: (dataclasses.replace(session, state=SessionState.paused), (Effect.pause,)),
    Resumed: lambda session, event, now_ms: (dataclasses.replace(session, state=SessionState.running), (Effect.resume,)),
}
