"""The state machine of sessions."""

from __future__ import annotations

import itertools

import pytest

from sandbox_runtime.errors import Conflict
from sandbox_runtime.model import Session, SessionMode, SessionState
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.machine import (
    Effect,
    Event,
    Expired,
    Finished,
    Idle,
    NodeLost,
    Opened,
    OpenFailed,
    Paused,
    Restored,
    Resumed,
    Terminated,
    TookTooLong,
    decide,
)

CREATING, RUNNING, PAUSED = SessionState.creating, SessionState.running, SessionState.paused
COMPLETED, FAILED, TIMEOUT, TERMINATED = (
    SessionState.completed,
    SessionState.failed,
    SessionState.timeout,
    SessionState.terminated,
)
EVENTS: dict[str, Event] = {
    "opened": Opened("box"),
    "open_failed": OpenFailed("no room"),
    "took_too_long": TookTooLong(300),
    "terminated": Terminated("me"),
    "expired": Expired(),
    "idle": Idle(60),
    "finished": Finished(),
    "broke": Finished(137, "oom_killed"),
    "lost": NodeLost("gone"),
    "restored": Restored(),
    "paused": Paused(),
    "resumed": Resumed(),
}
ALLOWED = {
    (CREATING, "opened"): RUNNING,
    (CREATING, "open_failed"): FAILED,
    (CREATING, "took_too_long"): FAILED,
    (CREATING, "terminated"): TERMINATED,
    (CREATING, "expired"): TIMEOUT,
    (CREATING, "finished"): COMPLETED,
    (CREATING, "broke"): FAILED,
    (CREATING, "lost"): FAILED,
    (RUNNING, "terminated"): TERMINATED,
    (RUNNING, "expired"): TIMEOUT,
    (RUNNING, "idle"): TERMINATED,
    (RUNNING, "finished"): COMPLETED,
    (RUNNING, "broke"): FAILED,
    (RUNNING, "lost"): FAILED,
    (RUNNING, "restored"): RUNNING,
    (RUNNING, "paused"): PAUSED,
    (PAUSED, "terminated"): TERMINATED,
    (PAUSED, "expired"): TIMEOUT,
    (PAUSED, "finished"): COMPLETED,
    (PAUSED, "broke"): FAILED,
    (PAUSED, "lost"): FAILED,
    (PAUSED, "restored"): RUNNING,
    (PAUSED, "resumed"): RUNNING,
}


def session_in(state: SessionState, mode: SessionMode = SessionMode.persistent) -> Session:
    return Session(id="s", state=state, mode=mode, created_ms=1)


@pytest.mark.parametrize(("state", "name"), list(itertools.product(SessionState, EVENTS)))
@pytest.mark.requirement("control_plane-3.01")
def test_every_event_in_every_state_leads_where_the_table_says_or_nowhere(state: SessionState, name: str) -> None:
    if (state, name) not in ALLOWED:
        with pytest.raises(Conflict, match=state):
            decide(session_in(state), EVENTS[name], 5)
        return
    after, effects = decide(session_in(state), EVENTS[name], 5)
    assert after.state is ALLOWED[state, name]
    assert after.state.ended == (Effect.close in effects) == (Effect.release in effects) == (after.completed_ms == 5)


def test_an_opened_session_has_its_box_and_is_active() -> None:
    after, effects = decide(session_in(CREATING), Opened("box_1"), 7)
    assert (after.box, after.started_ms, after.last_activity_ms, effects) == ("box_1", 7, 7, ())


def test_what_failed_says_why() -> None:
    assert decide(session_in(CREATING), OpenFailed("no room"), 5)[0].error == "no room"
    assert "oom_killed" in decide(session_in(RUNNING), Finished(137, "oom_killed"), 5)[0].error
    assert "60" in decide(session_in(RUNNING), Idle(60), 5)[0].error


def test_of_an_ephemeral_session_nothing_can_be_restored() -> None:
    with pytest.raises(Conflict, match="ephemeral"):
        decide(session_in(RUNNING, SessionMode.ephemeral), Restored(), 5)


def test_pausing_halts_and_resuming_goes_on() -> None:
    assert decide(session_in(RUNNING), Paused(), 5)[1] == (Effect.pause,)
    assert decide(session_in(PAUSED), Resumed(), 5)[1] == (Effect.resume,)


def test_only_what_changed_is_written() -> None:
    before = session_in(RUNNING)
    after, _ = decide(before, Terminated(), 9)
    assert machine.changes(before, after) == {"state": TERMINATED, "completed_ms": 9}
