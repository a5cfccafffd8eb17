from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from tests.api.sandboxes.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.requirement("sandboxes-6.04")
async def test_commands_run_without_a_shell(ann: Api) -> None:
    path = f"/api/v1/sandboxes/{await ann.sandbox()}/exec"
    result = await ann.request_json("POST", path, json={"command": "echo 'a b' $HOME ; true"})
    assert result["stdout"] == "a b $HOME ; true\n" and result["exit_code"] == 0 and result["duration"] >= 0
    result = await ann.request_json("POST", path, json={"command": "printf", "args": ["%s|", "a b", "$X"]})
    assert result["stdout"] == "a b|$X|"
    body = {"command": 'bash -c "cat; echo $X; pwd; echo no >&2; exit 7"', "input": "in\n", "environment": {"X": "x"}}
    result = await ann.request_json("POST", path, json={**body, "working_dir": "/tmp"})
    assert (result["stdout"], result["stderr"], result["exit_code"]) == ("in\nx\n/tmp\n", "no\n", 7)
    late = await ann.request_json("POST", path, json={"command": "sleep 60", "timeout": 0.3})
    assert late["status"] == "timeout" and late["exit_code"] != 0
    assert (await ann.request_json("POST", path, json={"command": "no-such-program"}))["exit_code"] == 127
    for wrong in [
        {"command": "'"},
        {"command": ""},
        {"command": " "},
        {"command": "true", "working_dir": "/etc"},
        {"command": "true", "working_dir": "/workspace/../etc"},
        {"command": "true", "timeout": 0},
        {"command": "true", "timeout": 1e9},
        {"command": "true", "environment": {"A=B": "1"}},
        {"command": "a\0b"},
        {"command": "true", "shell": True},
        {"cmd": "true"},
    ]:
        await ann.request_error("POST", path, 400, json=wrong)


@pytest.mark.requirement("sandboxes-6.04")
async def test_programs_run_in_the_language_that_is_named_or_guessed(ann: Api) -> None:
    path = f"/api/v1/sandboxes/{await ann.sandbox()}/code"
    result = await ann.request_json("POST", path, json={"code": "import os\nprint(6 * 7, os.getcwd())"})
    assert (result["output"], result["language"], result["exit_code"]) == ("42 /workspace\n", "python", 0)
    result = await ann.request_json("POST", path, json={"code": "echo $((1 + 2))"})
    assert (result["output"], result["language"]) == ("3\n", "bash")
    result = await ann.request_json(
        "POST", path, json={"code": "raise SystemExit('bad')", "language": "python", "filename": "it.py"}
    )
    assert result["exit_code"] == 1 and result["error"] == "bad\n"
    assert (await ann.get(f"{path.removesuffix('/code')}/files/it.py")).status_code == 200
    for wrong in [
        {"code": " \n "},
        {"code": "x", "language": "klingon"},
        {"code": "echo 1", "language": "bash", "packages": ["requests"]},
        {"code": "print(1)", "packages": ["--index-url=http://evil"]},
        {"code": "print(1)", "language": "python", "filename": "../../x.py"},
    ]:
        await ann.request_error("POST", path, 400, json=wrong)


@pytest.mark.requirement("sandboxes-6.05")
async def test_a_stream_tells_what_is_printed_and_how_it_ended(ann: Api, bob: Api) -> None:
    path = f"/api/v1/sandboxes/{await ann.sandbox()}"
    code = "import sys\nprint('ö')\nprint('no', file=sys.stderr)\nsys.exit(3)"
    started = await ann.request_json("POST", f"{path}/code", 202, json={"code": code, "stream": True})
    stream = f"{path}/streams/{started['stream_id']}"
    answer = await ann.get(stream)
    items = [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "".join(item["data"] for item in items if item["type"] == "data") == "ö\n"
    assert "".join(item["data"] for item in items if item["type"] == "error") == "no\n"
    assert items[-1]["type"] == "complete" and items[-1]["data"]["exit_code"] == 3
    await bob.request_error("GET", stream, 404)
    other = await ann.sandbox()
    await ann.request_error("GET", f"/api/v1/sandboxes/{other}/streams/{started['stream_id']}", 404)


@pytest.mark.requirement("sandboxes-6.06")
async def test_logs_and_metrics_tell_what_was_run_and_used(ann: Api) -> None:
    path = f"/api/v2/sandboxes/{await ann.sandbox()}"
    await ann.request_json(
        "POST", f"{path}/code", json={"code": "open('f', 'w').write('x' * 5000)\nprint('one')", "language": "python"}
    )
    await ann.request_json("POST", f"{path}/exec", json={"command": "false"})
    logs = await ann.request_json("GET", f"{path}/logs", params={"page_size": 1})
    assert logs["total"] == 2 and logs["data"][0]["exit_code"] == 1 and logs["pagination"]["next_offset"] == 1
    older = await ann.request_json("GET", f"{path}/logs", params={"page_offset": 1})
    assert older["data"][0]["stdout"] == "one\n"
    used = await ann.request_json("GET", f"{path}/metrics")
    assert sum(used["executions"].values()) == 2 and used["complete"] and used["disk_usage_bytes"] >= 5000
    assert used["execution_seconds"] > 0 and used["memory_limit_bytes"] > used["memory_peak_bytes"]


@pytest.mark.requirement("sandboxes-6.06", "sandboxes-8.04")
async def test_metrics_tell_what_was_measured_over_time(ann: Api, bob: Api) -> None:
    path = f"/api/v2/sandboxes/{await ann.sandbox()}"
    for command in ("true", "true", "false"):
        await ann.request_json("POST", f"{path}/exec", json={"command": command})
    result = await ann.request_json("GET", f"{path}/metrics", params={"aggregation": "1d"})
    series = {(item["metric_name"], item["labels"].get("state")): item for item in result["series"]}
    assert {item["metric_type"] for item in result["series"]} >= {"counter", "histogram"}
    done, failed = series["executions_total", "completed"]["points"], series["executions_total", "failed"]["points"]
    assert sum(item["value"] for item in done) == 2 and sum(item["value"] for item in failed) == 1
    assert done[0]["aggregation_period"] == "1d" and result["usage"]["disk_usage_bytes"] is not None
    took = series["execution_seconds", None]["points"]
    assert sum(item["count"] for item in took) == 3 and took[0]["min"] <= took[0]["value"] <= took[0]["max"]
    filtered = await ann.request_json("GET", f"{path}/metrics", params={"name": "execution_seconds", "seconds": 3600})
    assert [item["metric_name"] for item in filtered["series"]] == ["execution_seconds"]
    await ann.request_error("GET", f"{path}/metrics", 400, params={"aggregation": "2m"})
    await bob.request_error("GET", f"{path}/metrics", 404)


@pytest.mark.requirement("sandboxes-6.04")
async def test_a_client_that_hangs_up_takes_its_program_along(ann: Api) -> None:
    sandbox = await ann.sandbox()
    path = f"/api/v2/sandboxes/{sandbox}"
    with pytest.raises(httpx.ReadTimeout):
        await ann.post(f"{path}/exec", json={"command": "sleep 300", "timeout": 400}, timeout=httpx.Timeout(30, read=1))
    async with asyncio.timeout(60):
        while (logs := (await ann.request_json("GET", f"{path}/logs"))["data"]) == [] or logs[0]["status"] != "cancelled":
            await asyncio.sleep(0.05)
    assert not ann.platform.sessions.is_busy(sandbox)


@pytest.mark.requirement("sandboxes-7.03", "sandboxes-7.04", "sandboxes-8.01")
async def test_health_and_events_tell_how_a_sandbox_does_and_what_happened_to_it(ann: Api, bob: Api) -> None:
    path = f"/api/v2/sandboxes/{await ann.sandbox()}"
    health = await ann.request_json("GET", f"{path}/health")
    assert health["status"] == "healthy" and len(health["checks"]) == 4
    await bob.request_error("GET", f"{path}/health", 404)
    await bob.request_error("GET", f"{path}/events", 404)
    await ann.request("DELETE", path)
    events = (await ann.request_json("GET", f"{path}/events"))["data"]
    assert [item["type"] for item in events] == ["state_change"] * len(events)
    assert events[0]["message"] == "terminated" and events[-1]["title"] == "create" and events[0]["severity"] == "info"
    assert (await ann.request_json("GET", f"{path}/health"))["status"] == "unhealthy"
