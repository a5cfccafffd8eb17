"""Looking after sessions: who does badly is told once, and what broke is mended as far as it can be.

A session is broken when its home is gone under it while its row says that it runs. A persistent one is opened again from what was
kept of it (recreate), so often and after such waits as the options say; an ephemeral one has nothing to come back from and fails
(terminate), as does one whose attempts are used up. What was seen and done is told by the audit, in the name of the supervisor.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, SandboxError
from sandbox_runtime.model import SessionMode, SessionState
from sandbox_runtime.model.health import Check, CheckKind, Health, HealthStatus
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import Ground
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle
from sandbox_runtime.sessions.maintenance import health
from sandbox_runtime.sessions.registry import LiveSession

ACTOR = "supervisor"
BROKEN = "its home broke"
_SEVERITY = {
    HealthStatus.unknown: "info",
    HealthStatus.healthy: "info",
    HealthStatus.warning: "warning",
    HealthStatus.unhealthy: "error",
}


@dataclass(slots=True)
class _Healing:
    owner: str
    attempts: int = 0
    due_ms: int = 0


class Supervisor:
    def __init__(self, ground: Ground, lifecycle: Lifecycle) -> None:
        self._ground = ground
        self._lifecycle = lifecycle
        self._told: dict[str, HealthStatus] = {}
        self._healing: dict[str, _Healing] = {}
        self._turn = asyncio.Lock()

    async def round(self) -> None:
        """Looks at every session whose home is open here, and goes on with what is being mended. One round at a time."""
        async with self._turn:
            await self._round()

    async def _round(self) -> None:
        held = list(self._ground.directory.open.values())
        for live in held:
            if not live.ending:
                await self._look_at(live)
        for session_id in [key for key, one in self._healing.items() if one.due_ms <= timestamps.now_ms()]:
            await self._try(session_id)
        known = {live.id for live in held} | self._healing.keys()
        self._told = {key: status for key, status in self._told.items() if key in known}

    async def _look_at(self, live: LiveSession) -> None:
        found = health.of_live(live)
        if found.status is not self._told.get(live.id, HealthStatus.healthy):
            await self._tell(live, found)
        self._told[live.id] = found.status
        if found.checks[0].status is HealthStatus.unhealthy and live.session.state is SessionState.running:
            await self._mend(live)

    async def _tell(self, live: LiveSession, found: Health) -> None:
        worst = found.worst or Check(CheckKind.liveness, HealthStatus.unknown)
        facts = {"check": worst.kind, "status": found.status, "severity": _SEVERITY[found.status], "message": worst.message}
        self._ground.log.warning("the health of a session changed", session=live.id, status=found.status, reason=worst.message)
        await self._ground.store.audit.add(entry(ACTOR, "health", "session", live.id, owner=live.session.owner, **facts))

    async def _mend(self, live: LiveSession) -> None:
        if live.session.mode is SessionMode.ephemeral:
            await self._give_up(live.id, live.session.owner, f"{BROKEN}, and nothing of it was kept", 0)
            return
        await self._lifecycle.drop(live, BROKEN)
        self._healing.setdefault(live.id, _Healing(live.session.owner))

    async def _try(self, session_id: str) -> None:
        healing = self._healing[session_id]
        healing.attempts += 1
        try:
            await self._lifecycle.live(session_id)
        except (Conflict, NotFound):
            del self._healing[session_id]  # it was ended, paused or deleted meanwhile
        except SandboxError as error:
            await self._failed(session_id, healing, error)
        else:
            del self._healing[session_id]
            await self._note(session_id, healing, "recreate", "recovered", "info")

    async def _failed(self, session_id: str, healing: _Healing, error: SandboxError) -> None:
        options = self._ground.options
        if healing.attempts > options.retries:
            del self._healing[session_id]
            await self._give_up(session_id, healing.owner, f"{BROKEN} and could not be opened again: {error}", healing.attempts)
            return
        wait_s = min(options.retry_first_s * 2 ** (healing.attempts - 1), options.retry_longest_s)
        healing.due_ms = timestamps.now_ms() + int(wait_s * 1000)
        await self._note(session_id, healing, "recreate", f"failed: {error}", "warning")

    async def _give_up(self, session_id: str, owner: str, reason: str, attempts: int) -> None:
        try:
            await self._lifecycle.apply(session_id, machine.Lost(reason), ACTOR)
        except (Conflict, NotFound):
            return  # somebody else was quicker
        await self._note(session_id, _Healing(owner, attempts), "terminate", reason, "error")

    async def _note(self, session_id: str, healing: _Healing, way: str, outcome: str, severity: str) -> None:
        facts = {"way": way, "failure": "crash", "attempt": healing.attempts, "message": outcome, "severity": severity}
        await self._ground.store.audit.add(entry(ACTOR, "recover", "session", session_id, owner=healing.owner, **facts))
