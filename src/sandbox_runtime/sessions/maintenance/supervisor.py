"""Supervision of open sessions: reports changes of health and repairs broken sessions.

A session is broken when its environment is gone while its row says that it runs. A persistent one is opened again from its
snapshot ("recreate"), as often and after such delays as the options say. An ephemeral one has no snapshot and fails
("terminate"), as does one whose attempts are used up. The audit records what was seen and done, with the supervisor as actor.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, SandboxError
from sandbox_runtime.model import SessionMode, SessionState
from sandbox_runtime.model.health import CheckKind, Health, HealthCheck, HealthStatus
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.maintenance import health
from sandbox_runtime.sessions.registry import LiveSession

if TYPE_CHECKING:
    from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle

ACTOR = "supervisor"
BROKEN = "its environment broke"
_SEVERITY = {
    HealthStatus.unknown: "info",
    HealthStatus.healthy: "info",
    HealthStatus.warning: "warning",
    HealthStatus.unhealthy: "error",
}


@dataclass(slots=True)
class _Repair:
    owner: str
    attempts: int = 0
    due_ms: int = 0


class Supervisor:
    def __init__(self, deps: SessionDeps, lifecycle: Lifecycle) -> None:
        self._deps = deps
        self._lifecycle = lifecycle
        self._reported: dict[str, HealthStatus] = {}
        self._repairs: dict[str, _Repair] = {}
        self._lock = asyncio.Lock()

    async def round(self) -> None:
        """Check every open session and continue repairs. Only one round runs at a time."""
        async with self._lock:
            await self._round()

    async def _round(self) -> None:
        held = list(self._deps.registry.open.values())
        for live in held:
            if not live.closing:
                await self._check(live)
        for session_id in [key for key, repair in self._repairs.items() if repair.due_ms <= timestamps.now_ms()]:
            await self._attempt(session_id)
        known = {live.id for live in held} | self._repairs.keys()
        self._reported = {key: status for key, status in self._reported.items() if key in known}

    async def _check(self, live: LiveSession) -> None:
        result = health.check_live(live)
        if result.status is not self._reported.get(live.id, HealthStatus.healthy):
            await self._report(live, result)
        self._reported[live.id] = result.status
        if result.checks[0].status is HealthStatus.unhealthy and live.session.state is SessionState.running:
            await self._repair(live)

    async def _report(self, live: LiveSession, result: Health) -> None:
        worst = result.worst or HealthCheck(CheckKind.liveness, HealthStatus.unknown)
        facts = {"check": worst.kind, "status": result.status, "severity": _SEVERITY[result.status], "message": worst.message}
        self._deps.log.warning("the health of a session changed", session=live.id, status=result.status, reason=worst.message)
        await self._deps.store.audit.add(entry(ACTOR, "health", "session", live.id, owner=live.session.owner, **facts))

    async def _repair(self, live: LiveSession) -> None:
        if live.session.mode is SessionMode.ephemeral:
            await self._give_up(live.id, live.session.owner, f"{BROKEN}, and it has no snapshot", 0)
            return
        await self._lifecycle.transitions.close_environment(live, BROKEN)
        self._repairs.setdefault(live.id, _Repair(live.session.owner))

    async def _attempt(self, session_id: str) -> None:
        repair = self._repairs[session_id]
        repair.attempts += 1
        try:
            await self._lifecycle.live_sessions.get(session_id)
        except (Conflict, NotFound):
            del self._repairs[session_id]  # it was ended, paused or deleted in the meantime
        except SandboxError as error:
            await self._record_failure(session_id, repair, error)
        else:
            del self._repairs[session_id]
            await self._audit(session_id, repair, "recreate", "recovered", "info")

    async def _record_failure(self, session_id: str, repair: _Repair, error: SandboxError) -> None:
        options = self._deps.options
        if repair.attempts > options.retries:
            del self._repairs[session_id]
            await self._give_up(session_id, repair.owner, f"{BROKEN} and could not be opened again: {error}", repair.attempts)
            return
        wait_s = min(options.retry_first_s * 2 ** (repair.attempts - 1), options.retry_max_s)
        repair.due_ms = timestamps.now_ms() + int(wait_s * 1000)
        await self._audit(session_id, repair, "recreate", f"failed: {error}", "warning")

    async def _give_up(self, session_id: str, owner: str, reason: str, attempts: int) -> None:
        try:
            await self._lifecycle.transitions.apply(session_id, machine.NodeLost(reason), ACTOR)
        except (Conflict, NotFound):
            return  # it was ended in the meantime
        await self._audit(session_id, _Repair(owner, attempts), "terminate", reason, "error")

    async def _audit(self, session_id: str, repair: _Repair, action: str, outcome: str, severity: str) -> None:
        facts = {"way": action, "failure": "crash", "attempt": repair.attempts, "message": outcome, "severity": severity}
        await self._deps.store.audit.add(entry(ACTOR, "recover", "session", session_id, owner=repair.owner, **facts))
