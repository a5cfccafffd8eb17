"""Scripts, commands and handlers in sessions of the workspace dialect."""

from __future__ import annotations

import pytest
from tests.api.workspace.conftest import PREFIX, Workspace
from tests.conftest import skip_where_memory_is_not_counted

pytestmark = pytest.mark.asyncio(loop_scope="module")

HANDLER = "def handler(event): return {'message': 'Hello!', 'got': event}"


@pytest.mark.requirement("workspace-1.07", "workspace-1.20", "workspace-1.22", "workspace-2.01")
async def test_a_script_runs_and_is_told_in_every_form(workspace: Workspace) -> None:
    result = await workspace.script("s", "import sys\nprint('out'); print('err', file=sys.stderr)")
    for form in (result, result["data"], result["result"], result["full_result"]):
        assert (form["stdout"], form["stderr"], form["returncode"], form["exit_code"]) == ("out\n", "err\n", 0, 0)
        assert form["execution_time"] > 0 and form["metrics"]["duration_ms"] > 0
        assert set(form["metrics"]) == {"duration_ms", "memory_peak_mb", "cpu_time_ms"}
    assert result["success"] is True and result["error"] is None and result["data"]["result"] is None


@pytest.mark.requirement("workspace-1.07", "workspace-1.17")
async def test_a_script_is_saved_under_its_name_with_its_extension(workspace: Workspace) -> None:
    result = await workspace.script(
        "saved", "import sys; print(sys.argv[1:], __name__)", filename="deep/tool", args=["a b", "-c"]
    )
    assert result["stdout"] == "['a b', '-c'] __main__\n"
    assert (await workspace.request_json("GET", "/readfile/saved/deep/tool.py"))["content"].startswith("import sys")


@pytest.mark.requirement("workspace-1.17")
async def test_a_script_without_a_name_is_called_by_the_time(workspace: Workspace) -> None:
    await workspace.script("unnamed", "1")
    await workspace.script("unnamed", "true", script_type="shell")
    names = sorted(item["filename"] for item in (await workspace.request_json("GET", "/files/unnamed"))["files"])
    assert all(name.startswith("script_") and name[7:-3].isdigit() for name in names)
    assert [name[-3:] for name in names] == [".py", ".sh"]


@pytest.mark.requirement("workspace-1.07", "workspace-1.17")
@pytest.mark.parametrize(
    ("first_line", "shows"), [("", "1"), ("#!/bin/sh\n", "1"), ("#!/usr/bin/env -S cat\n", "#!/usr/bin/env -S cat")]
)
async def test_a_shell_script_is_started_as_it_says_itself(workspace: Workspace, first_line: str, shows: str) -> None:
    result = await workspace.script("shell", f"{first_line}echo $#\n", script_type="shell", args=["one two"], filename="go.sh")
    assert result["stdout"].splitlines()[0] == shows
    assert (await workspace.execute("shell", command="stat -c %a go.sh"))["stdout"] == "755\n"


@pytest.mark.requirement("workspace-1.18")
async def test_named_variables_come_back_as_json(workspace: Workspace) -> None:
    code = "import datetime\na = {'b': [1, None]}\nday = datetime.date(2024, 2, 29)\nprint('x')"
    result = await workspace.script("vars", code, output_params=["a", "day", "missing"])
    assert result["output_variables"] == result["data"]["output_variables"] == {"a": {"b": [1, None]}, "day": "2024-02-29"}
    assert result["stdout"] == "x\n"


@pytest.mark.requirement("workspace-1.18")
async def test_a_script_that_failed_has_no_variables(workspace: Workspace) -> None:
    result = await workspace.script("vars", "a = 1\nraise ValueError('no')", output_params=["a"])
    assert result["output_variables"] == {} and result["returncode"] == 1 and "ValueError: no" in result["stderr"]


@pytest.mark.requirement("workspace-1.21")
async def test_a_handler_that_a_script_defines_is_called(workspace: Workspace) -> None:
    result = await workspace.script("curl", HANDLER, timeout=10)
    assert result["result"] == result["data"]["result"] == {"message": "Hello!", "got": {}}
    assert (await workspace.script("curl", HANDLER, event={"a": 1}))["result"]["got"] == {"a": 1}
    assert result["exit_code"] == 0 and result["full_result"]["stdout"] == ""


@pytest.mark.requirement("workspace-1.08")
@pytest.mark.parametrize(
    ("body", "stdout", "code"),
    [
        ({"command": "echo", "args": ["Hello, World!", "$HOME"]}, "Hello, World! $HOME\n", 0),
        ({"command": "echo a | tr a b; exit 3"}, "b\n", 3),
        ({"command": "pwd", "args": []}, "/workspace\n", 0),
        ({"command": "kill -9 $$"}, "", 137),
        ({"command": "no-such-program", "args": ["x"]}, "", 127),
    ],
)
async def test_a_command_runs_in_the_workspace(workspace: Workspace, body: dict[str, object], stdout: str, code: int) -> None:
    result = await workspace.execute("commands", **body)
    assert (result["stdout"], result["returncode"], result["exit_code"]) == (stdout, code, code)


@pytest.mark.requirement("workspace-1.08")
async def test_files_of_one_command_are_there_for_the_next(workspace: Workspace) -> None:
    await workspace.execute("kept", command="echo 5 > number")
    assert (await workspace.script("kept", "print(int(open('number').read()) * 2)"))["stdout"] == "10\n"


@pytest.mark.requirement("workspace-1.21", "workspace-2.02")
async def test_execute_takes_a_handler_as_well(workspace: Workspace) -> None:
    code = "def handler(event, context):\n    print('in')\n    return [event['n'], context.get_remaining_time_in_millis() > 0]"
    result = await workspace.execute("handlers", code=code, event={"n": 2}, timeout=5)
    assert (result["result"], result["stdout"], result["exit_code"]) == ([2, True], "in\n", 0)


@pytest.mark.requirement("workspace-2.04", "workspace-1.23")
@pytest.mark.parametrize(
    ("code", "exit_code", "fault"),
    [
        ("def handler(event): return 1", 0, None),
        ("def handler(event) return 1", 1, "INVALID_CODE"),
        ("x = 1", 1, "INVALID_CODE"),
        ("def handler(event): raise KeyError('k')", 2, None),
        ("def handler(event): return object()", 3, None),
        ("def handler(event):\n while True: pass", 5, "EXECUTION_TIMEOUT"),
        ("def handler(event): return len(b'x' * 10**9)", 137, "RESOURCE_LIMIT"),
    ],
)
async def test_how_a_handler_ended_is_told_by_its_code(
    workspace: Workspace, code: str, exit_code: int, fault: str | None
) -> None:
    skip_where_memory_is_not_counted(exit_code)
    result = await workspace.execute("endings", code=code, timeout=5)
    assert result["exit_code"] == exit_code
    assert (result["error"] or {"code": None})["code"] == fault and result["success"] is (fault is None)


@pytest.mark.requirement("workspace-1.23")
async def test_a_script_that_takes_too_long_is_stopped_and_said_to_be(workspace: Workspace) -> None:
    result = await workspace.script("slow", "print('begun', flush=True)\nimport time; time.sleep(50)", timeout=4)
    assert (result["returncode"], result["stdout"], result["error"]["code"]) == (124, "begun\n", "EXECUTION_TIMEOUT")
    assert result["success"] is False and result["data"]["exit_code"] == 124


@pytest.mark.requirement("workspace-1.24")
async def test_a_session_has_100_processes(workspace: Workspace) -> None:
    session = await workspace.request_json("GET", "/status/hundred")
    assert (await workspace.platform.sessions.get(session["id"])).resources.processes == 100
    code = """
import threading, time
started = 0
try:
    while started < 300:
        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        started += 1
except RuntimeError:
    pass
print(started < 100)
"""
    assert (await workspace.script("hundred", code))["stdout"] == "True\n"


@pytest.mark.requirement("workspace-2.03")
@pytest.mark.parametrize("code", ["", "   \n"])
async def test_empty_handlers_are_refused(workspace: Workspace, code: str) -> None:
    answer = await workspace.post(f"{PREFIX}/execute/empty", json={"code": code})
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "INVALID_CODE"


@pytest.mark.parametrize(
    "body",
    [{}, {"command": "a", "code": "b"}, {"command": ""}, {"command": "a", "args": "b"}, {"code": "x", "event": []}, []],
)
async def test_what_is_neither_command_nor_handler_is_refused(workspace: Workspace, body: object) -> None:
    answer = await workspace.post(f"{PREFIX}/execute/bad", json=body)
    assert answer.status_code == 422
    assert answer.json()["success"] is False and answer.json()["error"]["code"] == "INVALID_REQUEST"


@pytest.mark.parametrize("timeout", [0, -1, 3601, "soon"])
async def test_times_are_bounded(workspace: Workspace, timeout: object) -> None:
    answer = await workspace.post(f"{PREFIX}/execute_code/bad", json={"code": "1", "timeout": timeout})
    assert answer.status_code == 422
