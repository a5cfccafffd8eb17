"""Terminals over /api/v1: opened, typed on, resized; and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.control_plane.doors import Door

pytestmark = pytest.mark.asyncio(loop_scope="module")

EXECUTIONS = "/api/v1/executions"


@pytest_asyncio.fixture(loop_scope="module")
async def session(client: Door) -> AsyncIterator[str]:
    made = (await client.session())["id"]
    yield made
    await client.delete(f"/api/v1/sessions/{made}")


async def opened(client: Door, session: str, **asked: Any) -> str:
    answer = await client.post(f"/api/v1/sessions/{session}/terminal", json={"timeout": 60, **asked})
    assert answer.status_code == 201, answer.text
    assert answer.json()["status"] == "running"
    return str(answer.json()["id"])


async def ended(client: Door, execution: str) -> dict[str, Any]:
    for _ in range(600):
        told = (await client.get(f"{EXECUTIONS}/{execution}/status")).json()
        if told["status"] not in ("pending", "running"):
            return dict(told)
        await asyncio.sleep(0.05)
    raise AssertionError("it does not end")


async def test_keys_go_in_and_what_appears_is_the_output(client: Door, session: str) -> None:
    shell = await opened(client, session, rows=30, columns=90, env_vars={"COLOUR": "blue"})
    assert (await client.post(f"{EXECUTIONS}/{shell}/resize", json={"rows": 31, "columns": 91})).status_code == 204
    typed = await client.post(f"{EXECUTIONS}/{shell}/input", content=b"stty size; echo $COLOUR; exit 5\n")
    assert typed.status_code == 204
    told = await ended(client, shell)
    assert told["exit_code"] == 5 and "31 91" in told["stdout"] and "blue" in told["stdout"]


@pytest.mark.parametrize(
    "asked", [{"rows": 0}, {"columns": 10_001}, {"rows": "many"}, {"timeout": 0}, {"timeout": 3601}, {"command": "x" * 102_401}]
)
async def test_what_is_out_of_bounds_is_refused(client: Door, session: str, asked: dict[str, Any]) -> None:
    assert (await client.post(f"/api/v1/sessions/{session}/terminal", json=asked)).status_code == 422


async def test_too_many_keys_at_once_are_refused_and_the_terminal_goes_on(client: Door, session: str) -> None:
    shell = await opened(client, session)
    refused = await client.post(f"{EXECUTIONS}/{shell}/input", content=b"x" * 20_000)
    assert refused.status_code == 400 and "at once" in refused.json()["message"]
    await client.post(f"{EXECUTIONS}/{shell}/input", content=b"exit 0\n")
    assert (await ended(client, shell))["status"] == "completed"


async def test_more_terminals_than_a_session_may_have_are_refused_for_now(client: Door, session: str) -> None:
    shells = [await opened(client, session) for _ in range(4)]
    answer = await client.post(f"/api/v1/sessions/{session}/terminal", json={})
    assert answer.status_code == 429 and "Retry-After" in answer.headers
    for shell in shells:
        assert (await client.post(f"{EXECUTIONS}/{shell}/cancel")).json()["status"] == "cancelled"


@pytest.mark.parametrize("name", ["nothing", "..%2F..%2Fetc", "%0d%0aX-A:%20b", "x" * 300])
async def test_names_that_are_none_lead_nowhere(client: Door, name: str) -> None:
    for path in (f"/api/v1/sessions/{name}/terminal", f"{EXECUTIONS}/{name}/resize", f"{EXECUTIONS}/{name}/input"):
        answer = await client.post(path, json={})
        assert answer.status_code in (404, 422) and "x-a" not in answer.headers


async def test_a_terminal_that_is_over_takes_nothing(client: Door, session: str) -> None:
    shell = await opened(client, session, command="true")
    await ended(client, shell)
    assert (await client.post(f"{EXECUTIONS}/{shell}/input", content=b"x")).status_code == 409
    assert (await client.post(f"{EXECUTIONS}/{shell}/resize", json={})).status_code == 409
