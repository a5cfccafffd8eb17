"""Recovery at start-up: makes the rows of the store true again after the last server ended.

Boxes, mounts and processes are gone already: isolation removes them. Executions in flight have crashed, ephemeral sessions are
lost, and persistent sessions continue from their snapshots when they are next used.
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
CRASHED = "the server ended while it ran; its progress is unknown"
LOST = "the server that held it ended, and its files were lost"
NEVER_READY = "the server ended while it was being created"
_IN_FLIGHT = (ExecutionState.pending, ExecutionState.running)


@dataclass(slots=True)
class RecoveryReport:
    lost: int = 0
    """Sessions that were ended."""
    kept: int = 0
    """Persistent sessions that continue."""
    crashed: int = 0
    """Executions that were in flight."""


async def recover(deps: SessionDeps, transitions: Transitions) -> RecoveryReport:
    """Recover the sessions of this server's nodes. Called once, before anything else; idempotent."""
    report = RecoveryReport()
    for node in deps.hosts:
        for session in await deps.all_sessions(SessionFilter(states=LIVE_SESSION_STATES, node=node)):
            report.crashed += await _crash_executions(deps, session)
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
    return machine.Restored() if session.mode is SessionMode.persistent else machine.NodeLost(LOST)


async def _crash_executions(deps: SessionDeps, session: Session) -> int:
    """Mark the executions in flight as crashed and return their number."""
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
