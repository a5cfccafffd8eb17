"""The states of a session as a pure function: the state that an event leads to, and the effects to carry out.

    creating ──Opened──▶ running ──Paused──▶ paused ──Resumed──▶ running
       │                    │                   │
       ├─OpenFailed, TookTooLong──▶ failed      │
       └────────────────────┴───────────────────┴─ Terminated ▶ terminated · Expired ▶ timeout · Idle ▶ terminated
                                                   Finished ▶ completed or failed · NodeLost ▶ failed

An ended session does not change. A decision is applied only to the version of the row that it was made from, so no event is
decided twice.
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
    close = "close"
    """Stop everything that runs in it and close its environment."""
    release = "release"
    """Free its slot on the node."""
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
    """It was still creating after the timeout."""

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
    """Its box exited by itself."""

    exit_code: int = 0
    reason: str = "normal"


@dataclass(frozen=True, slots=True)
class NodeLost:
    """The machine or server that held it is gone."""

    reason: str


@dataclass(frozen=True, slots=True)
class Restored:
    """Its snapshot can be opened again."""


@dataclass(frozen=True, slots=True)
class Paused:
    pass


@dataclass(frozen=True, slots=True)
class Resumed:
    pass


Event = Opened | OpenFailed | TookTooLong | Terminated | Expired | Idle | Finished | NodeLost | Restored | Paused | Resumed
Decision = tuple[Session, tuple[Effect, ...]]
_ENDING = (Effect.close, Effect.release)
_LIVE = (SessionState.creating, SessionState.running, SessionState.paused)
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
    """Return the session after the event, and the effects. Raises Conflict if its state does not allow the event."""
    allowed = _FROM.get(type(event), _LIVE)
    if session.state not in allowed:
        raise Conflict(f"the session {session.id!r} is {session.state}; it must be {' or '.join(allowed)}")
    return _RULES[type(event)](session, event, now_ms)


def changes(before: Session, after: Session) -> dict[str, Any]:
    """Return the fields that differ."""
    names = [field.name for field in dataclasses.fields(Session)]
    return {name: getattr(after, name) for name in names if getattr(before, name) != getattr(after, name)}


def _end(session: Session, state: SessionState, error: str, now_ms: int) -> Decision:
    """End a session. Its slot on the node counts from creation on, so it is always released. The snapshot of a persistent
    session is deleted with its row, not before: the owner may still want its files."""
    return dataclasses.replace(session, state=state, error=error, completed_ms=now_ms), _ENDING


def _open(session: Session, event: Opened, now_ms: int) -> Decision:
    changed = dataclasses.replace(
        session, state=SessionState.running, box=event.box, started_ms=now_ms, last_activity_ms=now_ms, error=""
    )
    return changed, ()


def _finish(session: Session, event: Finished, now_ms: int) -> Decision:
    if event.exit_code == 0 and event.reason in ("normal", "sigterm"):
        return _end(session, SessionState.completed, "", now_ms)
    error = f"its box exited: {event.reason}, exit code {event.exit_code}"
    return _end(session, SessionState.failed, error, now_ms)


def _lose(session: Session, event: NodeLost, now_ms: int) -> Decision:
    """Fail the session. For a persistent session with a snapshot, Restored is applied instead."""
    return _end(session, SessionState.failed, event.reason, now_ms)


def _restore(session: Session, event: Restored, now_ms: int) -> Decision:
    if session.mode is not SessionMode.persistent:
        raise Conflict(f"the session {session.id!r} is ephemeral: it has no snapshot")
    return dataclasses.replace(session, state=SessionState.running, box="", error=""), ()


_RULES: Mapping[type, Callable[..., Decision]] = {
    Opened: _open,
    OpenFailed: lambda session, event, now_ms: _end(session, SessionState.failed, event.reason, now_ms),
    TookTooLong: lambda session, event, now_ms: _end(
        session, SessionState.failed, f"it was not ready within {event.after_s:g} s", now_ms
    ),
    Terminated: lambda session, event, now_ms: _end(session, SessionState.terminated, "", now_ms),
    Expired: lambda session, event, now_ms: _end(session, SessionState.timeout, "its lifetime is over", now_ms),
    Idle: lambda session, event, now_ms: _end(session, SessionState.terminated, f"it was idle for {event.for_s:g} s", now_ms),
    Finished: _finish,
    NodeLost: _lose,
    Restored: _restore,
    Paused: lambda session, event, now_ms: (dataclasses.replace(session, state=SessionState.paused), (Effect.pause,)),
    Resumed: lambda session, event, now_ms: (dataclasses.replace(session, state=SessionState.running), (Effect.resume,)),
}
