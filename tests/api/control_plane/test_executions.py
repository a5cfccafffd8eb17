"""Executions over /api/v1: submit at the paths of both versions, wait, look up, cancel."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.api.control_plane.clients import ControlPlaneClient

from sandbox_runtime.sessions.api.execution_api import ExecutionApi

pytestmark = pytest.mark.asyncio(loop_scope="module")

EXECUTIONS = "/api/v1/executions"
FIELDS = [
    "id",
    "session_id",
    "status",
    "code",
    "language",
    "timeout",
    "exit_code",
    "error_message",
    "execution_time",
    "stdout",
    "stderr",
    "artifacts",
    "retry_count",
    "created_at",
    "started_at",
    "completed_at",
    "return_value",
    "metrics",
]
ADDS = "def handler(event):\n    print('called')\n    return {'sum': event['a'] + event['b']}"


async def ended(client: ControlPlaneClient, execution_id: str) -> dict[str, Any]:
    for _ in range(600):
        shown = (await client.get(f"{EXECUTIONS}/{execution_id}/status")).json()
        if shown["status"] not in ("pending", "running"):
            return dict(shown)
        await asyncio.sleep(0.05)
    raise AssertionError("it does not end")


@pytest.mark.requirement("control_plane-1.12", "control_plane-1.27", "control_plane-1.28")
async def test_a_handler_is_called_with_the_event_and_its_value_comes_back(client: ControlPlaneClient) -> None:
    session = await client.session()
    shown = await client.run(session["id"], ADDS, event={"a": 1, "b": 2})
    assert set(FIELDS) <= set(shown)
    assert shown["status"] == "completed" and shown["return_value"] == {"sum": 3} and shown["exit_code"] == 0
    assert shown["stdout"] == "called\n" and shown["stderr"] == "" and shown["session_id"] == session["id"]
    assert shown["metrics"]["duration_ms"] > 0 and shown["execution_time"] > 0 and shown["retry_count"] == 0
    assert set(shown["metrics"]) == {"duration_ms", "cpu_time_ms", "peak_memory_mb", "io_read_bytes", "io_write_bytes"}


def needs_javascript(client: ControlPlaneClient) -> None:
    if not client.platform.planner.paths.node_bin:
        pytest.skip("Node.js is not installed here: sandbox languages install nodejs")


@pytest.mark.requirement("control_plane-1.27")
@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "print(6*7)"),
        ("javascript", "console.log(6*7)"),
        ("shell", "echo $((6*7))"),
    ],
)
async def test_plain_programs_run_too(client: ControlPlaneClient, language: str, code: str) -> None:
    if language == "javascript":
        needs_javascript(client)
    shown = await client.run((await client.session())["id"], code, language)
    assert shown["status"] == "completed" and shown["stdout"] == "42\n" and shown["language"] == language


async def test_a_javascript_handler_gets_the_event(client: ControlPlaneClient) -> None:
    needs_javascript(client)
    code = "function handler(event) { return {double: event.n * 2}; }"
    shown = await client.run((await client.session())["id"], code, "javascript", event={"n": 4})
    assert shown["return_value"] == {"double": 8}, shown


async def test_numbers_that_json_does_not_have_become_null(client: ControlPlaneClient) -> None:
    shown = await client.run((await client.session())["id"], "def handler(event):\n    return {'x': float('nan'), 'y': 1}")
    assert shown["status"] in ("completed", "failed")
    assert shown["return_value"] in ({"x": None, "y": 1}, None)


@pytest.mark.requirement("control_plane-1.11", "control_plane-1.13")
async def test_what_was_submitted_is_found_under_its_id(client: ControlPlaneClient) -> None:
    session = await client.session()
    path = f"{EXECUTIONS}/sessions/{session['id']}/execute"
    answer = await client.post(path, json={"code": "print('x')", "language": "python"})
    shown = answer.json()
    assert answer.status_code == 201 and shown["session_id"] == session["id"] and shown["created_at"]
    assert shown["status"] in ("pending", "running")
    whole = await ended(client, shown["execution_id"])
    result = (await client.get(f"{EXECUTIONS}/{shown['execution_id']}/result")).json()
    assert result == whole and result["stdout"] == "x\n"
    assert (await client.get(f"{EXECUTIONS}/{shown['execution_id']}")).json() == result


@pytest.mark.requirement("control_plane-2.04", "control_plane-2.06")
async def test_the_design_s_addresses_answer_in_its_words(client: ControlPlaneClient) -> None:
    session = await client.session()
    base = f"/api/v1/sessions/{session['id']}"
    assert (await client.get(f"{base}/result")).status_code == 404
    body = {"code": "open('left.txt', 'w').write('x')", "language": "python", "async_mode": True}
    answer = await client.post(f"{base}/execute", json=body)
    shown = answer.json()
    assert answer.status_code == 200 and shown["status"] in ("pending", "submitted") and shown["submitted_at"]
    await ended(client, shown["execution_id"])
    status = (await client.get(f"{base}/status")).json()
    assert status["execution_id"] == shown["execution_id"] and status["status"] == "completed"
    for name in ("result", "results"):
        result = (await client.get(f"{base}/{name}", params={"execution_id": shown["execution_id"]})).json()
        assert result["status"] == "success" and result["exit_code"] == 0 and result["artifacts"] == ["left.txt"]
    other = await client.session()
    strange = await client.get(f"/api/v1/sessions/{other['id']}/result", params={"execution_id": shown["execution_id"]})
    assert strange.status_code == 404


@pytest.mark.requirement("control_plane-2.05")
async def test_standard_input_reaches_the_program(client: ControlPlaneClient) -> None:
    shown = await client.run((await client.session())["id"], "print(input()[::-1])", stdin="abc\n")
    assert shown["stdout"] == "cba\n"


@pytest.mark.requirement("control_plane-1.14", "control_plane-2.07")
async def test_the_executions_of_a_session_are_listed(client: ControlPlaneClient) -> None:
    session = await client.session()
    ids = [(await client.run(session["id"], f"print({n})"))["id"] for n in range(3)]
    whole = (await client.get(f"{EXECUTIONS}/sessions/{session['id']}/executions", params={"limit": 2})).json()
    assert [item["id"] for item in whole["items"]] == ids[:0:-1] and whole["total"] == 3 and whole["limit"] == 2
    assert whole["offset"] == 0
    rest = (await client.get(f"{EXECUTIONS}/sessions/{session['id']}/executions", params={"offset": 2})).json()
    assert [item["id"] for item in rest["items"]] == ids[:1]
    path = f"/api/v1/sessions/{session['id']}/executions"
    assert (await client.get(path, params={"status": "completed"})).json()["total"] == 3
    assert (await client.get(path, params={"status": "failed"})).json()["total"] == 0


@pytest.mark.requirement("control_plane-1.27")
@pytest.mark.parametrize(
    "fields",
    [
        {"code": ""},
        {"code": "x" * 102_401},
        {"language": "klingon"},
        {"language": None},
        {"timeout": 0},
        {"timeout": 3601},
        {"event": [1, 2]},
    ],
)
async def test_requests_out_of_bounds_are_422(client: ControlPlaneClient, fields: dict[str, Any]) -> None:
    path = f"{EXECUTIONS}/sessions/{(await client.session())['id']}/execute"
    answer = await client.post(path, json={"code": "print(1)", "language": "python", **fields})
    assert answer.status_code == 422 and answer.json()["error_code"] == "Sandbox.InvalidParameter"


@pytest.mark.requirement("control_plane-1.12")
@pytest.mark.parametrize("query", [{"poll_interval": 0.05}, {"poll_interval": 11}, {"sync_timeout": 9}, {"sync_timeout": 3601}])
async def test_waiting_has_bounds(client: ControlPlaneClient, query: dict[str, float]) -> None:
    path = f"{EXECUTIONS}/sessions/{(await client.session())['id']}/execute-sync"
    answer = await client.post(path, json={"code": "print(1)", "language": "python"}, params=query)
    assert answer.status_code == 422


@pytest.mark.requirement("control_plane-1.12")
async def test_what_does_not_end_in_time_is_408_and_goes_on(client: ControlPlaneClient, monkeypatch: pytest.MonkeyPatch) -> None:
    patiently = ExecutionApi.run

    async def hurried(self: ExecutionApi, *words: Any, wait_s: float, **more: Any) -> Any:
        """The shortest allowed wait is ten seconds; make it pass faster."""
        return await patiently(self, *words, wait_s=wait_s / 20, **more)

    monkeypatch.setattr(ExecutionApi, "run", hurried)
    session = await client.session()
    path = f"{EXECUTIONS}/sessions/{session['id']}/execute-sync"
    code = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('done')"
    body = {"code": code, "language": "python", "timeout": 60}
    answer = await client.post(path, json=body, params={"sync_timeout": 10})
    assert answer.status_code == 408 and answer.json()["error_code"] == "Sandbox.ExecTimeout"
    assert (await client.put(f"/api/v1/sessions/{session['id']}/files/go", content=b"")).is_success
    assert (await ended(client, answer.headers["X-Execution-ID"]))["stdout"] == "done\n"


@pytest.mark.requirement("control_plane-3.02", "control_plane-3.05")
async def test_time_that_ran_out_is_a_status_of_its_own(client: ControlPlaneClient) -> None:
    shown = await client.run((await client.session())["id"], "while True: pass", timeout=1)
    assert shown["status"] == "timeout" and shown["exit_code"] == -1


@pytest.mark.requirement("control_plane-3.02")
async def test_a_failing_program_has_failed(client: ControlPlaneClient) -> None:
    shown = await client.run((await client.session())["id"], "raise ValueError('no')")
    assert shown["status"] == "failed" and shown["exit_code"] == 1 and "ValueError" in shown["stderr"]


async def test_a_cancelled_execution_ends(client: ControlPlaneClient) -> None:
    session = await client.session()
    execution = await client.submit(session["id"], "import time\ntime.sleep(60)")
    shown = (await client.post(f"{EXECUTIONS}/{execution}/cancel")).json()
    assert shown["status"] == "cancelled"
    assert (await client.post(f"{EXECUTIONS}/{execution}/cancel")).json()["status"] == "cancelled"


async def test_the_same_key_runs_once(client: ControlPlaneClient) -> None:
    session = await client.session()
    path = f"{EXECUTIONS}/sessions/{session['id']}/execute"
    body = {"code": "open('n.txt', 'a').write('x')", "language": "python"}
    answers = [await client.post(path, json=body, headers={"Idempotency-Key": "k1"}) for _ in range(3)]
    assert len({answer.json()["execution_id"] for answer in answers}) == 1
    await ended(client, answers[0].json()["execution_id"])
    assert (await client.run(session["id"], "print(open('n.txt').read())"))["stdout"] == "x\n"
    too_long = await client.post(path, json=body, headers={"Idempotency-Key": "k" * 256})
    assert too_long.status_code == 400


@pytest.mark.requirement("control_plane-1.28", "control_plane-3.07")
async def test_files_that_an_execution_leaves_are_its_artifacts(client: ControlPlaneClient) -> None:
    code = (
        "import os\nos.makedirs('output'); os.makedirs('logs')\n"
        "for n in ('a.csv', 'output/b.txt', 'logs/c.log'):\n    open(n, 'w').write('12345')"
    )
    shown = await client.run((await client.session())["id"], code)
    artifacts = {item["path"]: item for item in shown["artifacts"]}
    assert {path: item["type"] for path, item in artifacts.items()} == {
        "a.csv": "artifact",
        "output/b.txt": "output",
        "logs/c.log": "log",
    }
    assert all(item["size"] == 5 and item["created_at"] and item["mime_type"] for item in artifacts.values())
    assert set(artifacts["a.csv"]) >= {"path", "size", "mime_type", "type", "created_at", "checksum"}


@pytest.mark.requirement("control_plane-1.13")
@pytest.mark.parametrize("name", ["exec_20260101000000_00000000", "..%2f..%2fetc", "%00", "x" * 300])
async def test_an_execution_that_is_not_there_is_404(client: ControlPlaneClient, name: str) -> None:
    answer = await client.get(f"{EXECUTIONS}/{name}/result")
    assert answer.status_code in (404, 422), answer.text


@pytest.mark.requirement("control_plane-1.26")
async def test_the_code_of_a_missing_execution_says_what_is_missing(client: ControlPlaneClient) -> None:
    answer = await client.get(f"{EXECUTIONS}/exec_1/status")
    assert answer.json()["error_code"] == "Sandbox.ExecutionNotFound"


async def test_sessions_keep_files_between_executions(client: ControlPlaneClient) -> None:
    session = await client.session()
    await client.run(session["id"], "open('kept.txt', 'w').write('still here')")
    assert (await client.run(session["id"], "cat kept.txt", "shell"))["stdout"] == "still here"
    assert (await client.run((await client.session())["id"], "ls", "shell"))["stdout"] == ""
