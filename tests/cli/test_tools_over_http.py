"""Tools, resources and prompts at the addresses of the sandbox interface, where the server offers them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from sandbox_runtime.cli.mcp_routes import open_app
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.telemetry import open_log

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """The application of `mcp-sandboxd --http`."""
    config = McpConfig.model_validate(
        {
            "sandbox": {"workspace_dir": str(tmp_path_factory.mktemp("state")), "max_sandboxes": 2},
            "logging": {"level": "error"},
            "tools": {"enabled_tools": ["all"]},
        }
    )
    opened: asyncio.Future[FastAPI] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()
    holding = asyncio.create_task(held_open(config, opened, done))
    try:
        transport = httpx.ASGITransport(await opened, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:3000/api/v1", timeout=60) as client:
            yield client
    finally:
        done.set()
        await holding


async def held_open(config: McpConfig, opened: asyncio.Future[FastAPI], done: asyncio.Event) -> None:
    """In a task of its own: what is opened in one task must be closed in it, and fixtures are not."""
    try:
        async with open_app(config, "", open_log("error")) as (app, _settings):
            opened.set_result(app)
            await done.wait()
    except BaseException as error:
        if not opened.done():
            opened.set_exception(error)
        raise


async def call_tool(api: httpx.AsyncClient, name: str, **body: Any) -> dict[str, Any]:
    answer = await api.post(f"/tools/{name}/execute", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.requirement("sandboxes-6.09")
async def test_tools_are_told_and_called(api: httpx.AsyncClient) -> None:
    listed = (await api.get("/tools")).json()
    assert listed["total"] == len(listed["data"]) >= 20
    assert (await api.get("/tools/run_code")).json()["inputSchema"]["properties"]["code"]
    made = await call_tool(api, "create_sandbox", arguments={})
    sandbox = made["metadata"]["sandbox_id"]
    assert made["is_error"] is False and sandbox in made["result"]
    ran = await call_tool(api, "run_python", arguments={"sandbox_id": sandbox, "code": "print(6 * 7)"})
    assert "42" in ran["result"] and ran["metadata"]["structured"]["exit_code"] == 0 and ran["duration"] > 0
    assert (await api.get(f"/sandboxes/{sandbox}")).json()["status"] == "running"
    wrong = await call_tool(api, "run_python", arguments={"sandbox_id": sandbox})
    assert wrong["is_error"] and wrong["metadata"]["error_code"] == "INVALID_PARAMETERS"
    late = await call_tool(
        api, "exec_command", arguments={"sandbox_id": sandbox, "command": "sleep 100"}, options={"timeout": 0.5}
    )
    assert late["is_error"] and late["metadata"]["error_code"] == "EXECUTION_TIMEOUT"


@pytest.mark.requirement("sandboxes-6.09")
async def test_what_failed_for_want_of_room_is_tried_again_and_told(api: httpx.AsyncClient) -> None:
    made = [await call_tool(api, "create_sandbox", arguments={}) for _ in range(2)]
    policy = {"max_retries": 2, "initial_delay": 0, "max_delay": 0}
    refused = await call_tool(api, "create_sandbox", arguments={}, options={"retry_policy": policy})
    assert refused["is_error"] and refused["metadata"]["error_code"] == "INSUFFICIENT_RESOURCES"
    for one in made:
        if not one["is_error"]:
            await call_tool(api, "terminate_sandbox", arguments={"sandbox_id": one["metadata"]["sandbox_id"]})


@pytest.mark.requirement("sandboxes-6.09")
async def test_resources_and_prompts_are_told_and_read(api: httpx.AsyncClient) -> None:
    uris = [one["uri"] for one in (await api.get("/resources", params={"page_size": 100})).json()["data"]]
    assert "config://sandbox" in uris
    assert (await api.get("/resources/config://sandbox")).json()["contents"][0]["text"]
    names = [one["name"] for one in (await api.get("/prompts")).json()["data"]]
    assert (await api.get(f"/prompts/{names[0]}")).json()["arguments"]
    filled = (await api.get("/prompts/solve_and_test", params={"task": "count words"})).json()
    assert "count words" in filled["messages"][0]["content"]["text"]


@pytest.mark.requirement("sandboxes-6.09")
@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/tools/none", 404, None),
        ("GET", "/prompts/none", 404, None),
        ("GET", "/prompts/solve_and_test?language=c", 400, None),
        ("GET", "/resources/config://none", 404, None),
        ("GET", "/resources/http://127.0.0.1/", 400, None),
        ("GET", "/resources/file:///etc/passwd", 400, None),
        ("POST", "/tools/none/execute", 404, {}),
        ("POST", "/tools/list_sandboxes/execute", 400, {"options": {"async": True, "stream": True}}),
        ("POST", "/tools/list_sandboxes/execute", 400, {"options": {"retry_policy": {"max_retries": 1000}}}),
        ("POST", "/tools/list_sandboxes/execute", 400, {"arguments": []}),
    ],
)
async def test_what_there_is_not_is_told_in_the_shape_of_errors(
    api: httpx.AsyncClient, method: str, path: str, status: int, body: Any
) -> None:
    answer = await api.request(method, path, json=body)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["code"] == status and "root:" not in answer.text
