"""Contexts and forks of sessions over /api/v1."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.api.control_plane.clients import ControlPlaneClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def context(client: ControlPlaneClient, session_id: str) -> str:
    answer = await client.post(f"/api/v1/sessions/{session_id}/contexts")
    assert answer.status_code == 201, answer.text
    return f"/api/v1/sessions/{session_id}/contexts/{answer.json()['id']}"


async def run(client: ControlPlaneClient, path: str, code: str, **fields: Any) -> dict[str, Any]:
    answer = await client.post(f"{path}/execute", json={"code": code, **fields})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.requirement("control_plane-9.01")
async def test_variables_stay_between_executions(client: ControlPlaneClient) -> None:
    path = await context(client, (await client.session())["id"])
    await run(client, path, "x = 41")
    result = await run(client, path, "x + 1")
    assert result["status"] == "completed" and result["displays"][-1]["text/plain"] == "42", result
    assert result["kind"] == "cell" and result["context_id"] == path.rpartition("/")[2]


@pytest.mark.requirement("control_plane-9.01")
async def test_contexts_are_listed_restarted_and_closed(client: ControlPlaneClient) -> None:
    session = await client.session()
    path = await context(client, session["id"])
    base = path.rpartition("/")[0]
    assert [view["id"] for view in (await client.get(base)).json()["contexts"]] == [path.rpartition("/")[2]]
    await run(client, path, "x = 1")
    assert (await client.post(f"{path}/restart")).status_code == 200
    assert (await run(client, path, "x"))["status"] == "failed"
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(base)).json() == {"contexts": [], "total": 0}
    assert (await client.post(f"{path}/execute", json={"code": "1"})).status_code == 404


@pytest.mark.requirement("control_plane-9.01")
async def test_a_cell_can_be_interrupted_and_the_variables_stay(client: ControlPlaneClient) -> None:
    path = await context(client, (await client.session())["id"])
    await run(client, path, "x = 5")
    answer = await client.post(
        f"{path}/execute", params={"wait": False}, json={"code": "import time\nprint('on')\ntime.sleep(60)"}
    )
    assert answer.status_code == 202
    execution = answer.json()["execution_id"]
    for _ in range(1500):
        if (await client.get(path.rpartition("/")[0])).json()["contexts"][0]["busy"]:
            break
        await asyncio.sleep(0.02)
    for _ in range(600):
        await client.post(f"{path}/interrupt")
        result = (await client.get(f"/api/v1/executions/{execution}")).json()
        if result["status"] not in ("pending", "running"):
            break
        await asyncio.sleep(0.05)
    assert result["status"] == "failed" and "KeyboardInterrupt" in result["error_message"], result
    assert (await run(client, path, "print(x)"))["stdout"] == "5\n"


@pytest.mark.requirement("control_plane-9.02")
async def test_a_fork_has_the_files_and_the_variables_and_its_own_life(client: ControlPlaneClient) -> None:
    session = await client.session()
    path = await context(client, session["id"])
    await run(client, path, "import random\nx = [1]\nopen('f.txt', 'w').write('shared')")
    answer = await client.post(f"/api/v1/sessions/{session['id']}/fork", json={"count": 2})
    assert answer.status_code == 201 and answer.json()["count"] == 2
    drawn = set()
    for copy in answer.json()["sessions"]:
        assert copy["id"] != session["id"] and copy["status"] == "running"
        own = (await client.get(f"/api/v1/sessions/{copy['id']}/contexts")).json()["contexts"][0]["id"]
        result = await run(client, f"/api/v1/sessions/{copy['id']}/contexts/{own}", "x.append(2)\nprint(x, open('f.txt').read())")
        assert result["stdout"] == "[1, 2] shared\n"
        drawn.add((await run(client, f"/api/v1/sessions/{copy['id']}/contexts/{own}", "print(random.random())"))["stdout"])
    assert len(drawn) == 2
    assert (await run(client, path, "print(x)"))["stdout"] == "[1]\n"


async def test_a_fork_of_nothing_is_404_and_of_too_much_is_refused(client: ControlPlaneClient) -> None:
    assert (await client.post("/api/v1/sessions/none/fork")).status_code == 404
    session = await client.session()
    assert (await client.post(f"/api/v1/sessions/{session['id']}/fork", json={"count": 1001})).status_code == 422
    assert (await client.post(f"/api/v1/sessions/{session['id']}/fork", json={"count": 999})).status_code in (400, 429)
