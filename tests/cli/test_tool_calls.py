"""Tool calls over REST that are streamed or fetched later: POST /tools/{name}/execute with stream and with async."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import pytest_asyncio
import uvicorn
from tests.api.keys import new_key
from tests.api.servers import Server, listening_socket
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.api.app import create_app
from sandbox_runtime.api.dialects.sandboxes.schemas.tools import ToolResult
from sandbox_runtime.api.dialects.sandboxes.tool_calls import CallLimits, ToolCallRegistry
from sandbox_runtime.assembly import open_platform
from sandbox_runtime.cli.mcp_routes import mount_mcp
from sandbox_runtime.errors import NotFound, TooMany
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
FOR_EVER = "echo up; while true; do sleep 1; done"


class Api(httpx.AsyncClient):
    async def tool(self, name: str, status: int = 200, options: dict[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
        answer = await self.post(f"/tools/{name}/execute", json={"arguments": arguments, "options": options or {}})
        assert answer.status_code == status, answer.text
        return dict(answer.json())

    async def sandbox(self) -> str:
        return str((await self.tool("create_sandbox"))["metadata"]["sandbox_id"])

    async def ended(self, name: str, execution_id: str) -> dict[str, Any]:
        async with asyncio.timeout(120):
            while True:
                told = dict((await self.get(f"/tools/{name}/executions/{execution_id}", params={"wait": 30})).json())
                if told["status"] != "running":
                    return told

    @asynccontextmanager
    async def following(self, name: str, **arguments: Any) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        body = {"arguments": arguments, "options": {"stream": True}}
        async with self.stream("POST", f"/tools/{name}/execute", json=body) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield (json.loads(line[6:]) async for line in answer.aiter_lines() if line.startswith("data: "))


async def served(settings: Settings, url: asyncio.Future[tuple[str, list[dict[str, str]]]], done: asyncio.Event) -> None:
    """In a task of its own: what is opened in one task must be closed in it, and fixtures are not."""
    app = create_app(settings)
    async with open_platform(settings, sessions=True) as platform:
        app.state.platform = platform
        async with mount_mcp(app, platform):
            server = Server(uvicorn.Config(app, lifespan="off", log_config=None, access_log=False))
            with listening_socket() as ear:
                serving = asyncio.create_task(server.serve([ear]))
                keys = [await new_key(platform, owner) for owner in ("ann", "bob")]
                url.set_result((f"http://127.0.0.1:{ear.getsockname()[1]}/api/v2", keys))
                await done.wait()
                server.should_exit = server.force_exit = True
                await serving


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def clients(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Api, Api]]:
    skip_where_the_host_lacks("namespaces")
    folder = tmp_path_factory.mktemp("state")
    settings = Settings(state_dir=str(folder), require_keys=True, check_languages=False, log_level="error")
    opened: asyncio.Future[tuple[str, list[dict[str, str]]]] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()
    holding = asyncio.create_task(served(settings, opened, done))
    await asyncio.wait((opened, holding), return_when=asyncio.FIRST_COMPLETED)
    if holding.done():
        holding.result()
    url, keys = opened.result()
    async with Api(base_url=url, headers=keys[0], timeout=90) as ann, Api(base_url=url, headers=keys[1], timeout=90) as bob:
        yield ann, bob
    done.set()
    await holding


@pytest.fixture
def ann(clients: tuple[Api, Api]) -> Api:
    return clients[0]


@pytest.fixture
def bob(clients: tuple[Api, Api]) -> Api:
    return clients[1]


@pytest.mark.requirement("sandboxes-6.11")
async def test_a_call_is_answered_at_once_and_fetched_later(ann: Api) -> None:
    begun = await ann.tool("exec_command", 202, {"async": True}, sandbox_id=await ann.sandbox(), command="echo hi")
    assert begun["status"] == "running" and begun["execution_id"] and "result" not in begun
    told = await ann.ended("exec_command", begun["execution_id"])
    assert (told["status"], told["is_error"], told["execution_id"]) == ("completed", False, begun["execution_id"])
    assert "hi" in told["result"] and told["metadata"]["structured"]["stdout"] == "hi\n"
    again = await ann.ended("exec_command", begun["execution_id"])
    assert again["result"] == told["result"]


@pytest.mark.requirement("sandboxes-6.11")
async def test_a_call_that_fails_or_takes_too_long_is_told_later(ann: Api) -> None:
    sandbox = await ann.sandbox()
    wrong = await ann.tool("exec_command", 202, {"async": True}, sandbox_id=sandbox)
    told = await ann.ended("exec_command", wrong["execution_id"])
    assert (told["status"], told["metadata"]["error_code"]) == ("failed", "INVALID_PARAMETERS")
    slow = await ann.tool("exec_command", 202, {"async": True, "timeout": 0.5}, sandbox_id=sandbox, command="sleep 100")
    told = await ann.ended("exec_command", slow["execution_id"])
    assert (told["status"], told["metadata"]["error_code"]) == ("failed", "EXECUTION_TIMEOUT")


@pytest.mark.requirement("sandboxes-6.11")
async def test_a_call_that_is_cancelled_ends_its_program(ann: Api) -> None:
    sandbox = await ann.sandbox()
    begun = await ann.tool("exec_command", 202, {"async": True}, sandbox_id=sandbox, command="sleep 299", timeout=300)
    path = f"/tools/exec_command/executions/{begun['execution_id']}"
    await until_all(ann, sandbox, "running")
    assert (await ann.get(path)).json()["status"] == "running"
    told = (await ann.delete(path)).json()
    assert (told["status"], told["metadata"]["error_code"]) == ("cancelled", "CANCELLED")
    await until_all(ann, sandbox, "cancelled")
    assert (await ann.get(path)).json()["status"] == "cancelled"
    assert (await ann.delete(path)).status_code == 200 and (await ann.get(path)).status_code == 404


async def until_all(api: Api, sandbox: str, status: str) -> None:
    """Whatever was begun in the sandbox is that."""
    async with asyncio.timeout(60):
        while True:
            rows = (await api.get(f"/sandboxes/{sandbox}/logs")).json()["data"]
            if rows and all(row["status"] == status for row in rows):
                return
            await asyncio.sleep(0.05)


@pytest.mark.requirement("sandboxes-6.12")
async def test_what_a_tool_prints_is_followed_item_by_item(ann: Api) -> None:
    sandbox = await ann.sandbox()
    line = "bash -c 'echo one; echo 4/10; echo wrong >&2; sleep 0.3; echo two'"
    async with ann.following("exec_command", sandbox_id=sandbox, command=line) as items:
        found = [item async for item in items]
    printed = "".join(item["data"] for item in found if item["type"] == "data")
    assert printed == "one\n4/10\ntwo\n"
    assert "".join(item["data"] for item in found if item["type"] == "error") == "wrong\n"
    assert [item["progress"]["current"] for item in found if item["type"] == "progress"] == [40.0]
    assert found[-1]["type"] == "complete" and found[-1]["data"]["metadata"]["structured"]["stdout"] == printed
    assert [item["type"] for item in found].count("complete") == 1


@pytest.mark.requirement("sandboxes-6.12")
async def test_a_client_that_stops_listening_ends_the_program(ann: Api) -> None:
    sandbox = await ann.sandbox()
    async with ann.following("exec_command", sandbox_id=sandbox, command=f"bash -c '{FOR_EVER}'", timeout=300) as items:
        assert (await anext(aiter(items)))["data"] == "up\n"
    await until_all(ann, sandbox, "cancelled")


@pytest.mark.requirement("sandboxes-6.12")
async def test_a_failing_tool_is_told_at_the_end_of_its_stream(ann: Api) -> None:
    async with ann.following("exec_command", sandbox_id="no-such", command="ls") as items:
        found = [item async for item in items]
    assert [item["type"] for item in found] == ["complete"] and found[0]["data"]["is_error"]


# What means harm.


@pytest.mark.requirement("sandboxes-6.11")
async def test_calls_of_others_are_not_there(ann: Api, bob: Api) -> None:
    begun = await ann.tool("exec_command", 202, {"async": True}, sandbox_id=await ann.sandbox(), command="sleep 299", timeout=300)
    path = f"/tools/exec_command/executions/{begun['execution_id']}"
    assert (await bob.get(path)).status_code == (await bob.delete(path)).status_code == 404
    assert (await ann.get(path.replace("exec_command", "run_code"))).status_code == 404
    assert (await ann.get(path)).json()["status"] == "running"
    assert (await ann.delete(path)).json()["status"] == "cancelled"


@pytest.mark.requirement("sandboxes-6.11")
@pytest.mark.parametrize("name", ["none", "call-" + "0" * 32, "..%2f..%2fetc", "%00", "x" * 300])
async def test_ids_that_are_none_find_nothing(ann: Api, name: str) -> None:
    answer = await ann.get(f"/tools/exec_command/executions/{name}")
    assert answer.status_code in (400, 404) and "Traceback" not in answer.text


@pytest.mark.requirement("sandboxes-6.11", "sandboxes-6.12")
@pytest.mark.parametrize(
    ("path", "options", "status"),
    [
        ("none", {"async": True}, 404),
        ("none", {"stream": True}, 404),
        ("exec_command", {"async": True, "stream": True}, 400),
        ("exec_command", {"async": "maybe"}, 400),
        ("exec_command", {"async": True, "timeout": 1e9}, 400),
        ("exec_command", {"async": True, "retry_policy": {"max_retries": 1000}}, 400),
    ],
)
async def test_calls_that_cannot_be_are_refused_before_anything_begins(
    ann: Api, path: str, options: dict[str, Any], status: int
) -> None:
    await ann.tool(path, status, options)


@pytest.mark.requirement("sandboxes-6.11")
async def test_a_flood_of_calls_is_refused_and_leaves_room_for_others(ann: Api, bob: Api) -> None:
    sandbox = await ann.sandbox()
    body = {"arguments": {"sandbox_id": sandbox, "command": "sleep 299", "timeout": 300}, "options": {"async": True}}
    answers = [await ann.post("/tools/exec_command/execute", json=body) for _ in range(40)]
    refused = [one for one in answers if one.status_code == 429]
    assert refused and "retry-after" in refused[0].headers
    told = await bob.tool("list_sandboxes", 202, {"async": True})
    assert (await bob.ended("list_sandboxes", told["execution_id"]))["status"] == "completed"
    for one in answers:
        if one.status_code == 202:
            await ann.delete(f"/tools/exec_command/executions/{one.json()['execution_id']}")


def result_of(text: str) -> ToolResult:
    return ToolResult(result=text, is_error=False, status="completed", duration=0, timestamp="")


@pytest.mark.requirement("sandboxes-6.11")
async def test_results_are_kept_for_a_time_and_in_bounds() -> None:
    calls = ToolCallRegistry(CallLimits(max_running_per_owner=2, max_results_per_owner=3, max_result_bytes_per_owner=5000))

    async def ended(owner: str, text: str) -> str:
        async def work() -> ToolResult:
            return result_of(text)

        call = calls.start(owner, "tool", work)
        await asyncio.wait_for(call.done.wait(), 60)
        return call.id

    other = await ended("bob", "x")
    mine = [await ended("ann", "x") for _ in range(5)]
    for gone in mine[:2]:
        with pytest.raises(NotFound):
            calls.get(gone, "tool", "ann")
    assert calls.get(mine[-1], "tool", "ann").to_result().result == "x"
    large = [await ended("ann", "x" * 4000) for _ in range(2)]
    with pytest.raises(NotFound):
        calls.get(large[0], "tool", "ann")
    assert calls.get(other, "tool", "bob") is calls.get(other, "tool", "")
    await calls.close()


@pytest.mark.requirement("sandboxes-6.11")
async def test_old_results_are_forgotten_and_what_runs_ends_with_the_table() -> None:
    calls = ToolCallRegistry(CallLimits(max_running_per_owner=1, result_ttl_s=0.0))
    cut = asyncio.Event()

    async def for_ever() -> ToolResult:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            cut.set()

    running = calls.start("ann", "tool", for_ever)
    with pytest.raises(TooMany):
        calls.start("ann", "tool", for_ever)
    assert calls.get(running.id, "tool", "ann").to_result().status == "running"
    await calls.cancel(running)
    with pytest.raises(NotFound):
        calls.get(running.id, "tool", "ann")
    second = calls.start("ann", "tool", for_ever)
    await calls.close()
    assert cut.is_set() and second.to_result().status == "cancelled"
