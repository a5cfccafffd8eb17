"""Health checks of one session: its environment, readiness, storage and interpreters."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sandbox_runtime import timestamps
from sandbox_runtime.model import Session, SessionState
from sandbox_runtime.model.health import CheckKind, Health, HealthCheck, HealthStatus

if TYPE_CHECKING:
    from sandbox_runtime.sessions.registry import LiveSession

NEARLY_FULL, FULL = 0.9, 0.99


def check_row(session: Session) -> Health:
    """Check a session whose environment is not open here."""
    if session.state.ended:
        check = HealthCheck(CheckKind.liveness, HealthStatus.unhealthy, f"it has ended: {session.state}")
    else:
        check = HealthCheck(CheckKind.liveness, HealthStatus.unknown, "its environment is not open here; its next use opens it")
    return Health(session.id, timestamps.now_ms(), (check,))


def check_live(live: LiveSession) -> Health:
    alive = _liveness(live)
    if alive.status is HealthStatus.unhealthy:
        return Health(live.id, timestamps.now_ms(), (alive,))
    return Health(live.id, timestamps.now_ms(), (alive, _readiness(live), _resource(live), _interpreters(live)))


def _liveness(live: LiveSession) -> HealthCheck:
    if live.environment.closed:
        return HealthCheck(CheckKind.liveness, HealthStatus.unhealthy, "its environment is closed")
    try:
        os.fstatvfs(live.environment.files.files_fd)
    except OSError as error:
        return HealthCheck(CheckKind.liveness, HealthStatus.unhealthy, f"its files cannot be reached: {error.strerror}")
    return HealthCheck(CheckKind.liveness, HealthStatus.healthy)


def _readiness(live: LiveSession) -> HealthCheck:
    if live.closing:
        return HealthCheck(CheckKind.readiness, HealthStatus.warning, "it is ending")
    if live.session.state is not SessionState.running:
        return HealthCheck(CheckKind.readiness, HealthStatus.warning, f"it is {live.session.state}")
    if live.slots.full:
        return HealthCheck(CheckKind.readiness, HealthStatus.warning, "its queue of executions is full")
    return HealthCheck(CheckKind.readiness, HealthStatus.healthy)


def _resource(live: LiveSession) -> HealthCheck:
    area = os.fstatvfs(live.environment.files.files_fd)
    share = 1 - area.f_bavail / area.f_blocks if area.f_blocks else 0.0
    message = f"{share:.0%} of its storage is used"
    if share >= FULL:
        return HealthCheck(CheckKind.resource, HealthStatus.unhealthy, message)
    return HealthCheck(CheckKind.resource, HealthStatus.warning if share >= NEARLY_FULL else HealthStatus.healthy, message)


def _interpreters(live: LiveSession) -> HealthCheck:
    dead = [context.id for context in live.contexts.values() if not context.interpreter.alive]
    if dead:
        message = f"dead interpreters: {', '.join(sorted(dead))[:200]}; restart or close them"
        return HealthCheck(CheckKind.custom, HealthStatus.warning, message)
    return HealthCheck(CheckKind.custom, HealthStatus.healthy)
