"""Supervision: health changes are reported and broken sessions are repaired."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import skip_where_nothing_can_be_paused

from sandbox_runtime.errors import TooMany
from sandbox_runtime.model import ExecutionKind, SessionMode, SessionState
from sandbox_runtime.model.health import CheckKind, HealthStatus
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec
from sandbox_runtime.sessions.maintenance.breaker import BreakerState

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def audit_details(sessions: Sessions, session_id: str, action: str) -> list[dict[str, Any]]:
    """Return the details of the audit entries about a session, the newest first."""
    page = await sessions.monitor.events(session_id)
    return [json.loads(one.details_json or "{}") for one in page.items if one.action == action]


async def close_environment(sessions: Sessions, session_id: str) -> None:
    """Close the environment behind the session's back."""
    await sessions._deps.registry.open[session_id].environment.close()


@pytest.mark.requirement("sandboxes-7.03")
async def test_a_session_that_does_well_says_so(sessions: Sessions) -> None:
    skip_where_nothing_can_be_paused()
    session = await sessions.create(SessionSpec())
    found = await sessions.monitor.health(session.id)
    assert found.status is HealthStatus.healthy and {check.kind for check in found.checks} == set(CheckKind)
    await sessions.pause(session.id)
    assert (await sessions.monitor.health(session.id)).status is HealthStatus.warning
    await sessions.terminate(session.id)
    assert (await sessions.monitor.health(session.id)).status is HealthStatus.unhealthy


@pytest.mark.requirement("sandboxes-7.03", "sandboxes-7.04")
async def test_an_interpreter_that_died_is_told_once(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    context = await sessions.contexts.open(session.id)
    spec = ExecutionSpec(code="import os; os._exit(3)", kind=ExecutionKind.cell, context=context.id)
    await sessions.executions.run(session.id, spec)
    assert (await sessions.monitor.health(session.id)).status is HealthStatus.warning
    await sessions.sweep()
    await sessions.sweep()
    [alert] = await audit_details(sessions, session.id, "health")
    assert alert["check"] == "custom" and alert["severity"] == "warning" and context.id in alert["message"]
    await sessions.contexts.close(session.id, context.id)
    await sessions.sweep()
    assert [one["status"] for one in await audit_details(sessions, session.id, "health")] == ["healthy", "warning"]
    await sessions.terminate(session.id)


@pytest.mark.requirement("sandboxes-7.05")
async def test_a_persistent_session_whose_home_broke_is_opened_again_from_what_was_kept(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec(mode=SessionMode.persistent))
    await sessions.executions.run(session.id, ExecutionSpec(code="open('kept', 'w').write('kept')"))
    await close_environment(sessions, session.id)
    assert (await sessions.monitor.health(session.id)).status is HealthStatus.unhealthy
    await sessions.sweep()
    again = await sessions.executions.run(session.id, ExecutionSpec(code="print(open('kept').read())"))
    assert again.stdout == "kept\n" and (await sessions.monitor.health(session.id)).status is HealthStatus.healthy
    [recovery] = await audit_details(sessions, session.id, "recover")
    assert (recovery["way"], recovery["message"], recovery["attempt"]) == ("recreate", "recovered", 1)
    await sessions.delete(session.id)


@pytest.mark.requirement("sandboxes-7.05")
async def test_an_ephemeral_session_whose_home_broke_fails_and_says_why(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    await close_environment(sessions, session.id)
    await sessions.sweep()
    ended = await sessions.get(session.id)
    assert ended.state is SessionState.failed and "environment broke" in ended.error
    [recovery] = await audit_details(sessions, session.id, "recover")
    assert (recovery["way"], recovery["severity"]) == ("terminate", "error")


@pytest.mark.requirement("sandboxes-7.06")
async def test_a_node_that_cannot_open_homes_is_not_asked_again_and_again(sessions: Sessions) -> None:
    session, environments = await sessions.create(SessionSpec()), sessions._lifecycle.environments
    breaker = environments.breakers[session.node]
    while breaker.state is BreakerState.closed:
        breaker.record_failure()
    try:
        with pytest.raises(TooMany):
            await environments.open(session)
    finally:
        breaker.record_success()
    await (await environments.open(session)).close()
    await sessions.terminate(session.id)
