"""POST /v2/execute_code: handlers without a session."""

from __future__ import annotations

import asyncio

import pytest
from tests.api.workspace.conftest import PREFIX, Workspace, open_workspace, settings_in
from tests.conftest import skip_where_memory_is_not_counted

pytestmark = pytest.mark.asyncio(loop_scope="module")

V2 = "/v2/execute_code"


@pytest.mark.requirement("workspace-1.15")
@pytest.mark.parametrize("path", [V2, f"{PREFIX}{V2}"])
async def test_a_handler_is_called_without_a_session(workspace: Workspace, path: str) -> None:
    code = "import sys\ndef handler(event):\n    print('o'); print('e', file=sys.stderr)\n    return {'twice': event['n'] * 2}"
    answer = await workspace.post(path, json={"handler_code": code, "event": {"n": 4}})
    result = answer.json()
    assert answer.status_code == 200
    assert (result["stdout"], result["stderr"], result["result"]) == ("o\n", "e\n", {"twice": 8})
    assert set(result["metrics"]) == {"duration_ms", "memory_peak_mb", "cpu_time_ms", "timeout_seconds"}
    assert result["metrics"]["timeout_seconds"] == 300 and result["metrics"]["duration_ms"] > 0


@pytest.mark.requirement("workspace-2.02")
async def test_the_context_has_the_usual_fields_and_those_that_were_sent(workspace: Workspace) -> None:
    code = """
def handler(event, context):
    return [context.function_name, context.function_version, context.log_group_name, len(context.request_id),
            len(context.log_stream_name), bool(context.invoked_function_arn), context.remaining_time_in_millis,
            context.memory_limit_in_mb, context.get_remaining_time_in_millis() <= 300_000, context.get("mine")]
"""
    result = (await workspace.post(V2, json={"handler_code": code, "context": {"mine": 5}})).json()["result"]
    assert result == ["unknown-function", "$LATEST", "/lambda-sandbox/logs", 36, 36, True, 300_000, 128, True, 5]
    request_body = {"handler_code": code, "context": {"function_name": "f", "function_version": "7"}}
    assert (await workspace.post(V2, json=request_body)).json()["result"][:2] == ["f", "7"]


@pytest.mark.requirement("workspace-2.05", "workspace-2.06")
@pytest.mark.parametrize(("asked", "given"), [(None, 300), (0, 300), (-5, 300), (2, 2), (99_999, 3600), (0.5, 0.5)])
async def test_the_event_says_how_long_a_handler_may_take(workspace: Workspace, asked: float | None, given: float) -> None:
    event = {"timeout": "mine"} if asked is None else {"__timeout": asked, "timeout": "mine"}
    result = (await workspace.post(V2, json={"handler_code": "def handler(e): return e", "event": event})).json()
    assert result["metrics"]["timeout_seconds"] == given and result["result"]["timeout"] == "mine"


@pytest.mark.requirement("workspace-2.05", "workspace-2.06", "workspace-1.15")
async def test_a_handler_that_takes_too_long_is_told_as_such(workspace: Workspace) -> None:
    code = "import time\ndef handler(event):\n    print('begun', flush=True)\n    time.sleep(60)"
    answer = await workspace.post(V2, json={"handler_code": code, "event": {"__timeout": 1}})
    detail = answer.json()["detail"]
    assert answer.status_code == 500 and detail["error_code"] == "Sandbox.ExecTimeout"
    assert set(detail) == {"error_code", "description", "error_detail", "solution"}
    assert detail["error_detail"]["stdout"] == "begun\n"


@pytest.mark.requirement("workspace-1.15", "workspace-2.06")
@pytest.mark.parametrize(
    ("code", "exit_code", "said"),
    [
        ("def handler(event): raise ValueError('mine')", 2, "mine"),
        ("def handler(event): return {1, 2}", 3, "JSON"),
        ("handler = 5", 1, "handler"),
        ("def handler(event:", 1, "SyntaxError"),
        ("import os\ndef handler(event): os._exit(3)", 2, ""),
        ("def handler(event): return len(b'x' * 10**9)", 137, ""),
    ],
)
async def test_a_handler_that_fails_is_an_exception_with_its_code(
    workspace: Workspace, code: str, exit_code: int, said: str
) -> None:
    skip_where_memory_is_not_counted(exit_code)
    answer = await workspace.post(V2, json={"handler_code": code})
    detail = answer.json()["detail"]
    assert answer.status_code == 500 and detail["error_code"] == "Sandbox.ExecException"
    assert detail["error_detail"]["exit_code"] == exit_code and said in detail["error_detail"]["stderr"]


@pytest.mark.requirement("workspace-2.03", "workspace-2.06")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"handler_code": ""},
        {"handler_code": " \n "},
        {"handler_code": "x" * 102_401},
        {"handler_code": "def handler(e): pass", "event": [1]},
        {"handler_code": "def handler(e): pass", "event": {"__timeout": "soon"}},
        {"handler_code": "def handler(e): pass", "context": 5},
        [],
    ],
)
async def test_what_is_no_handler_is_refused_before_it_runs(workspace: Workspace, body: object) -> None:
    answer = await workspace.post(V2, json=body)
    assert answer.status_code == 400 and answer.json()["detail"]["error_code"] == "Sandbox.InvalidParameter"


@pytest.mark.requirement("workspace-3.02")
async def test_each_call_has_a_box_of_its_own(workspace: Workspace) -> None:
    code = """
import os
seen = []
def handler(event):
    seen.append(1)
    found = os.listdir(".")
    open("left", "w").close()
    return [seen, found]
"""
    for _ in range(3):
        result = (await workspace.post(V2, json={"handler_code": code})).json()
        assert result["result"] == [[1], []]


@pytest.mark.requirement("workspace-2.06", "workspace-3.03")
async def test_more_than_there_is_room_for_is_told_to_come_back(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = str(tmp_path_factory.mktemp("state"))
    body = {"handler_code": "def handler(e): return 1"}
    async with open_workspace(settings_in(folder, max_concurrency=1, queue_size=0)) as small:
        taken = await small.platform.admission.enter()
        refused = await small.post(V2, json=body)
        small.platform.admission.leave(taken)
        served = await small.post(V2, json=body)
    assert refused.status_code == 503 and int(refused.headers["Retry-After"]) >= 1
    assert refused.json()["detail"]["error_code"] == "Sandbox.TooManyRequestsExection"
    assert (served.status_code, served.json()["result"]) == (200, 1)


@pytest.mark.requirement("workspace-3.01", "workspace-3.04")
async def test_boxes_stand_ready_before_the_first_call(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with open_workspace(settings_in(str(tmp_path_factory.mktemp("state")))) as fresh:
        async with asyncio.timeout(30):
            while (boxes := (await fresh.get("/health")).json()["boxes"])["idle"] < 2:
                await asyncio.sleep(0.01)
        assert boxes["in_use"] == 0


@pytest.mark.requirement("workspace-3.06")
async def test_a_handler_is_alone_in_a_small_world(workspace: Workspace) -> None:
    code = """
import os, socket
def handler(event):
    found = {}
    status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
    found["capabilities"] = int(status["CapEff"], 16)
    found["processes"] = max(int(name) for name in os.listdir("/proc") if name.isdigit()) < 100
    for path in ("/usr/x", "/etc/x"):
        try:
            open(path, "w")
        except OSError:
            found[path] = "refused"
    try:
        socket.create_connection(("192.0.2.1", 80), 1)
    except OSError as error:
        found["network"] = type(error).__name__
    open("mine", "w")
    return [found, os.getcwd(), os.listdir(".")]
"""
    results, folder, files = (await workspace.post(V2, json={"handler_code": code})).json()["result"]
    assert (results["capabilities"], results["processes"], folder, files) == (0, True, "/workspace", ["mine"])
    assert results["/usr/x"] == results["/etc/x"] == "refused" and results["network"] == "OSError"


@pytest.mark.requirement("workspace-3.08")
async def test_a_handler_that_kills_everything_kills_only_itself(workspace: Workspace) -> None:
    code = "import os, signal\ndef handler(event): os.kill(-1, signal.SIGKILL); os.kill(os.getpid(), signal.SIGKILL)"
    answer = await workspace.post(V2, json={"handler_code": code})
    assert answer.status_code == 500 and answer.json()["detail"]["error_code"] == "Sandbox.ExecException"
    answer = await workspace.post(V2, json={"handler_code": "def handler(event): return 1"})
    assert answer.json()["result"] == 1
