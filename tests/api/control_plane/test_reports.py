"""Reports of other nodes, and their token."""

from __future__ import annotations

import itertools
import time
from typing import Any

import pytest
from tests.api.control_plane.clients import TEMPLATE, ControlPlaneClient
from tests.api.control_plane.conftest import INTERNAL_TOKEN

from sandbox_runtime.model import BoxRecord, Execution, ExecutionState, Session, SessionState

pytestmark = pytest.mark.asyncio(loop_scope="module")

TRUSTED = {"Authorization": f"Bearer {INTERNAL_TOKEN}"}
RESULT = {"status": "success", "stdout": "out", "stderr": "err", "exit_code": 0, "execution_time": 0.25, "return_value": {"a": 1}}
_numbers = itertools.count()


def now_ms() -> int:
    return time.time_ns() // 1_000_000


async def elsewhere(client: ControlPlaneClient, state: SessionState = SessionState.running) -> Session:
    """Return a session whose box is on another node."""
    row = Session(id=f"far-{next(_numbers)}", template=TEMPLATE, state=state, node="node-1", created_ms=now_ms())
    return await client.platform.sessions.store.sessions.add(row)


async def execution(client: ControlPlaneClient) -> str:
    row = Execution(
        id=f"exec-{next(_numbers)}", session=(await elsewhere(client)).id, state=ExecutionState.running, created_ms=now_ms()
    )
    return (await client.platform.sessions.store.executions.add(row)).id


async def report(client: ControlPlaneClient, path: str, body: Any, base: str = "/api/v1/internal") -> tuple[int, dict[str, Any]]:
    answer = await client.post(f"{base}/{path}", json=body, headers=TRUSTED)
    return answer.status_code, answer.json()


@pytest.mark.requirement("control_plane-1.22", "control_plane-1.29", "control_plane-2.14", "control_plane-3.02")
@pytest.mark.parametrize("base", ["/api/v1/internal", "/internal"])
async def test_a_result_is_recorded_once(client: ControlPlaneClient, base: str) -> None:
    name = await execution(client)
    assert (await report(client, f"executions/{name}/result", {**RESULT, "artifacts": ["output/x.txt"]}, base))[0] == 201
    shown = (await client.get(f"/api/v1/executions/{name}")).json()
    assert shown["status"] == "completed" and shown["stdout"] == "out" and shown["return_value"] == {"a": 1}
    assert shown["execution_time"] == 0.25 and [(artifact["path"], artifact["type"]) for artifact in shown["artifacts"]] == [
        ("output/x.txt", "output")
    ]
    assert (await report(client, f"executions/{name}/result", RESULT, base))[0] == 200
    status, body = await report(client, f"executions/{name}/result", {**RESULT, "status": "failed"}, base)
    assert status == 409 and body["error_code"] == "Internal.StateConflict"


@pytest.mark.requirement("control_plane-1.22", "control_plane-1.29")
@pytest.mark.parametrize(
    ("word", "state"), [("success", "completed"), ("failed", "failed"), ("timeout", "timeout"), ("crashed", "crashed")]
)
async def test_every_word_of_a_report_has_its_state(client: ControlPlaneClient, word: str, state: str) -> None:
    name = await execution(client)
    await report(client, f"executions/{name}/result", {**RESULT, "status": word})
    assert (await client.get(f"/api/v1/executions/{name}/status")).json()["status"] == state


@pytest.mark.requirement("control_plane-1.22", "control_plane-2.16")
async def test_reports_that_make_no_sense_are_refused(client: ControlPlaneClient) -> None:
    name = await execution(client)
    status, body = await report(client, "executions/none/result", RESULT)
    assert status == 404 and body["error_code"] == "Internal.InvalidExecution"
    assert (await report(client, f"executions/{name}/result", {**RESULT, "status": "splendid"}))[0] == 400
    for bad in ({"status": "success"}, {**RESULT, "metrics": {}}, {**RESULT, "execution_time": -1}):
        assert (await report(client, f"executions/{name}/result", bad))[0] == 422


@pytest.mark.requirement("control_plane-2.14")
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {INTERNAL_TOKEN}"}])
async def test_without_the_token_no_report_is_taken(client: ControlPlaneClient, headers: dict[str, str]) -> None:
    name = await execution(client)
    for base in ("/api/v1/internal", "/internal"):
        answer = await client.post(f"{base}/executions/{name}/result", json=RESULT, headers=headers)
        assert answer.status_code == 401 and answer.json()["error_code"] == "Internal.Unauthorized"
    assert (await client.get(f"/api/v1/executions/{name}")).json()["status"] == "running"


@pytest.mark.requirement("control_plane-1.21", "control_plane-2.15")
async def test_a_box_that_is_ready_makes_its_session_run(client: ControlPlaneClient) -> None:
    first, second, third = [await elsewhere(client, SessionState.creating) for _ in range(3)]
    await client.platform.sessions.store.boxes.add(BoxRecord(id=f"c-{first.id}", session=first.id, created_ms=now_ms()))
    assert (await report(client, "containers/ready", {"container_id": f"c-{first.id}", "executor_port": 8080}))[0] == 200
    assert (await report(client, "containers/ready", {"container_id": "c-x", "pod_name": f"sandbox-{second.id}"}))[0] == 200
    assert (await report(client, f"sessions/{third.id}/container_ready", {"container_id": "c-y"}))[0] == 200
    assert (await report(client, f"sessions/{third.id}/container_ready", {"container_id": "c-y"}))[0] == 200
    for session in (first, second, third):
        shown = (await client.get(f"/api/v1/sessions/{session.id}")).json()
        assert shown["status"] == "running" and shown["container_id"].startswith("c-")
    assert (await report(client, "containers/ready", {"container_id": "nobody's"}))[0] == 404


@pytest.mark.requirement("control_plane-1.21", "control_plane-2.15", "control_plane-3.01")
@pytest.mark.parametrize(
    ("code", "reason", "state"),
    [(0, "normal", "completed"), (143, "sigterm", "failed"), (137, "oom_killed", "failed"), (1, "error", "failed")],
)
async def test_a_box_that_is_gone_ends_its_session(client: ControlPlaneClient, code: int, reason: str, state: str) -> None:
    session = await elsewhere(client)
    body = {"exit_code": code, "exit_reason": reason}
    assert (await report(client, f"sessions/{session.id}/container_exited", body))[0] == 200
    assert (await client.get(f"/api/v1/sessions/{session.id}")).json()["status"] == state
    assert (await report(client, "containers/exited", {**body, "container_id": f"sandbox-{session.id}"}))[0] == 200
    assert (await report(client, f"sessions/{session.id}/container_exited", {"exit_reason": "bored"}))[0] == 422


@pytest.mark.requirement("control_plane-1.21", "control_plane-2.14")
async def test_heartbeats_status_and_artifacts_are_noted(client: ControlPlaneClient) -> None:
    name = await execution(client)
    stamp = "2026-01-01T00:00:00Z"
    assert (await report(client, f"executions/{name}/heartbeat", {"timestamp": stamp}))[0] == 200
    assert (await client.platform.sessions.store.executions.get(name)).heartbeat_ms
    assert (await report(client, "executions/none/heartbeat", {}))[0] == 404
    assert (await report(client, f"executions/{name}/status", {"status": "running", "started_at": stamp}))[0] == 200
    assert (await client.get(f"/api/v1/executions/{name}")).json()["started_at"].startswith("2026-01-01T00:00:00")
    artifact = {"path": "logs/x.log", "size": 3, "mime_type": "text/plain", "type": "log", "created_at": stamp, "checksum": "ab"}
    assert (await report(client, f"executions/{name}/artifacts", {"artifacts": [artifact]}))[0] == 201
    assert (await report(client, f"executions/{name}/status", {"status": "crashed", "error": "node lost"}))[0] == 200
    shown = (await client.get(f"/api/v1/executions/{name}")).json()
    assert shown["status"] == "crashed" and shown["error_message"] == "node lost"
    assert shown["artifacts"][0]["path"] == "logs/x.log" and shown["artifacts"][0]["type"] == "log"


async def test_of_what_runs_here_nobody_else_tells_the_end(client: ControlPlaneClient) -> None:
    session = await client.session()
    name = await client.submit(session["id"], "import time\ntime.sleep(30)")
    status, body = await report(client, f"executions/{name}/result", RESULT)
    assert status == 409 and "runs on this server" in body["message"]
    assert (await client.post(f"/api/v1/executions/{name}/cancel")).json()["status"] == "cancelled"
