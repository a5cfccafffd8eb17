"""What a new server makes of what the one before left in the store.

Boxes, mounts and processes are gone already: the isolation room sees to that. Here the rows are made true again: executions that
were in flight crashed, ephemeral sessions are lost, persistent ones go on from what was kept when they are next used.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.model import Ending, ExecutionState, Session, SessionMode, SessionState
from sandbox_runtime.model.session import LIVE_SESSION_STATES
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.lifecycle.transitions import Transitions
from sandbox_runtime.store import ExecutionFilter, SessionFilter

_PAGE = 200
CRASHED = "the server ended while it ran; it is not known how far it came"
LOST = "the server that held it ended, and its files with it"
NEVER_READY = "the server ended while it was being made"
_IN_FLIGHT = (ExecutionState.pending, ExecutionState.running)


@dataclass(slots=True)
class RecoveryReport:
    lost: int = 0
    kept: int = 0
    crashed: int = 0


async def recover(deps: SessionDeps, transitions: Transitions) -> RecoveryReport:
    """Called once, before anything else; idempotent."""
    report = RecoveryReport()
    for node in deps.hosts:
        for session in await deps.all_sessions(SessionFilter(states=LIVE_SESSION_STATES, node=node)):
            report.crashed += await _fail_executions(deps, session)
            await _recover_session(deps, transitions, session, report)
    return report


async def _recover_session(deps: SessionDeps, transitions: Transitions, session: Session, report: RecoveryReport) -> None:
    event = _recovery_event(session)
    try:
        await transitions.apply(session.id, event, "recovery")
    except (Conflict, NotFound):
        return
    if isinstance(event, machine.Restored):
        deps.registry.enter(session.id, session.owner)
        report.kept += 1
    else:
        report.lost += 1


def _recovery_event(session: Session) -> machine.Event:
    if session.state is SessionState.creating:
        return machine.OpenFailed(NEVER_READY)
    return machine.Restored() if session.mode is SessionMode.persistent else machine.Lost(LOST)


async def _fail_executions(deps: SessionDeps, session: Session) -> int:
    count = 0
    while True:
        page = await deps.store.executions.list(ExecutionFilter(session=session.id, states=_IN_FLIGHT), limit=_PAGE)
        if not page.items:
            return count
        for execution in page.items:
            await deps.store.executions.update(
                execution, state=ExecutionState.crashed, ending=Ending.lost, error=CRASHED, completed_ms=timestamps.now_ms()
            )
            count += 1
