"""Terminals over /api/v1: open, type, resize; and invalid requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.control_plane.clients import ControlPlaneClient

pytestmark = pytest.mark.asyncio(loop_scope="module")

EXECUTIONS = "/api/v1/executions"


@pytest_asyncio.fixture(loop_scope="module")
async def session(client: ControlPlaneClient) -> AsyncIterator[str]:
    made = (await client.session())["id"]
    yield made
    await client.delete(f"/api/v1/sessions/{made}")


async def opened(client: ControlPlaneClient, session: str, **body: Any) -> str:
    answer = await client.post(f"/api/v1/sessions/{session}/terminal", json={"timeout": 60, **body})
    assert answer.status_code == 201, answer.text
    assert answer.json()["status"] == "running"
    return str(answer.json()["id"])


async def ended(client: ControlPlaneClient, execution: str) -> dict[str, Any]:
    for _ in range(600):
        execution_status = (await client.get(f"{EXECUTIONS}/{execution}/status")).json()
        if execution_status["status"] not in ("pending", "running"):
            return dict(execution_status)
        await asyncio.sleep(0.05)
    raise AssertionError("it does not end")


async def test_keys_go_in_and_what_appears_is_the_output(client: ControlPlaneClient, session: str) -> None:
    shell = await opened(client, session, rows=30, columns=90, env_vars={"COLOUR": "blue"})
    assert (await client.post(f"{EXECUTIONS}/{shell}/resize", json={"rows": 31, "columns": 91})).status_code == 204
    typed = await client.post(f"{EXECUTIONS}/{shell}/input", content=b"stty size; echo $COLOUR; exit 5\n")
    assert typed.status_code == 204
    execution_status = await ended(client, shell)
    assert execution_status["exit_code"] == 5 and "31 91" in execution_status["stdout"] and "blue" in execution_status["stdout"]


@pytest.mark.parametrize(
    "body", [{"rows": 0}, {"columns": 10_001}, {"rows": "many"}, {"timeout": 0}, {"timeout": 3601}, {"command": "x" * 102_401}]
)
async def test_what_is_out_of_bounds_is_refused(client: ControlPlaneClient, session: str, body: dict[str, Any]) -> None:
    assert (await client.post(f"/api/v1/sessions/{session}/terminal", json=body)).status_code == 422


async def test_too_many_keys_at_once_are_refused_and_the_terminal_goes_on(client: ControlPlaneClient, session: str) -> None:
    shell = await opened(client, session)
    refused = await client.post(f"{EXECUTIONS}/{shell}/input", content=b"x" * 20_000)
    assert refused.status_code == 400 and "at once" in refused.json()["message"]
    await client.post(f"{EXECUTIONS}/{shell}/input", content=b"exit 0\n")
    assert (await ended(client, shell))["status"] == "completed"


async def test_more_terminals_than_a_session_may_have_are_refused_for_now(client: ControlPlaneClient, session: str) -> None:
    shells = [await opened(client, session) for _ in range(4)]
    answer = await client.post(f"/api/v1/sessions/{session}/terminal", json={})
    assert answer.status_code == 429 and "Retry-After" in answer.headers
    for shell in shells:
        assert (await client.post(f"{EXECUTIONS}/{shell}/cancel")).json()["status"] == "cancelled"


@pytest.mark.parametrize("name", ["nothing", "..%2F..%2Fetc", "%0d%0aX-A:%20b", "x" * 300])
async def test_names_that_are_none_lead_nowhere(client: ControlPlaneClient, name: str) -> None:
    for path in (f"/api/v1/sessions/{name}/terminal", f"{EXECUTIONS}/{name}/resize", f"{EXECUTIONS}/{name}/input"):
        answer = await client.post(path, json={})
        assert answer.status_code in (404, 422) and "x-a" not in answer.headers


async def test_a_terminal_that_is_over_takes_nothing(client: ControlPlaneClient, session: str) -> None:
    shell = await opened(client, session, command="true")
    await ended(client, shell)
    assert (await client.post(f"{EXECUTIONS}/{shell}/input", content=b"x")).status_code == 409
    assert (await client.post(f"{EXECUTIONS}/{shell}/resize", json={})).status_code == 409
