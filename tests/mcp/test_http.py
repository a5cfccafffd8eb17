"""MCP over HTTP and WebSocket: who may come in, what is told beside it, and the same in the main server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCResponse
from tests.api.servers import Server, listening_socket
from tests.conftest import skip_where_the_host_lacks
from tests.mcp.conftest import http_server
from tests.mcp.results import figures, text
from tests.mcp.sockets import websocket_client
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from sandbox_runtime.api.app import create_app
from sandbox_runtime.assembly import open_platform
from sandbox_runtime.cli.mcp_routes import mount_mcp
from sandbox_runtime.mcp.transports.event_store import EventBudget
from sandbox_runtime.settings import Settings

_HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
_WITHIN_S = 60.0
_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def said(response: httpx.Response) -> dict[str, Any]:
    """The message of an answer that may be a stream of events."""
    if response.headers["content-type"].startswith("application/json"):
        return dict(response.json())
    return dict(json.loads(next(line for line in response.text.splitlines() if line.startswith("data: {"))[6:]))


@pytest.mark.requirement("mcp-3.11")
async def test_health_info_and_metrics_are_told_beside_it(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=_WITHIN_S) as web:
        health, info, figures_ = [(await web.get(path)).json() for path in ("/health", "/info", "/metrics")]
    assert health["status"] == "ok" and {"timestamp", "version", "uptime"} <= health.keys()
    assert info["name"] == "SandboxRunner MCP Server" and info["capabilities"]["resources"]["subscribe"]
    wanted = {
        "requests_total",
        "average_duration_us",
        "active_connections",
        "websocket_connections",
        "errors_total",
        "bytes_served",
    }
    assert wanted <= figures_.keys()


@pytest.mark.requirement("mcp-3.01")
async def test_lists_are_said_to_change_as_over_standard_streams(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=_HEADERS, timeout=_WITHIN_S) as web:
        capabilities = said(await web.post("/mcp", json=_HELLO))["result"]["capabilities"]
    assert capabilities["resources"] == {"subscribe": True, "listChanged": True}
    assert (capabilities["prompts"], capabilities["tools"]) == ({"listChanged": True}, {"listChanged": False})


@pytest.mark.requirement("mcp-3.12")
async def test_pages_of_other_sites_and_wrong_names_are_refused(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=_HEADERS, timeout=_WITHIN_S) as web:
        assert (await web.post("/mcp", json=_HELLO, headers={"Origin": "https://evil.example"})).status_code == 403
        assert (await web.post("/mcp", json=_HELLO, headers={"Host": "evil.example"})).status_code == 403
        for path in ("/mcp", "/info", "/api/v2/sandboxes"):
            assert (await web.get(path, headers={"Sec-Fetch-Site": "cross-site"})).status_code == 403
        assert (await web.post("/mcp", json=_HELLO, headers={"Origin": "http://localhost:5173"})).status_code == 200
    with pytest.raises(InvalidStatus):
        async with connect(f"ws://127.0.0.1:{port}/mcp/ws", origin="https://evil.example"):  # type: ignore[arg-type]
            pass


@pytest.mark.requirement("mcp-3.13")
async def test_sessions_of_the_protocol_and_bad_bodies(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=_HEADERS, timeout=_WITHIN_S) as web:
        opened = await web.post("/mcp", json=_HELLO)
        assert said(opened)["result"]["protocolVersion"] == "2025-06-18"
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-06-18"}
        await web.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert said(await web.post("/mcp", json=ping, headers=session))["result"] == {}
        assert (await web.post("/mcp", json=ping, headers={"Mcp-Session-Id": "0" * 32})).status_code == 404
        broken = await web.post("/mcp", content=b"{no json", headers=session)
        assert broken.status_code == 400 and broken.json()["error"]["code"] == -32700
        large = await web.post("/mcp", content=b'"' + b"x" * (11 * 1024**2) + b'"', headers=session)
        assert large.status_code == 413
        assert (await web.delete("/mcp", headers=session)).status_code == 200
        assert (await web.post("/mcp", json=ping, headers=session)).status_code == 404


@pytest.mark.requirement("mcp-3.13")
async def test_the_newest_revision_has_no_handshake_and_its_headers_may_have_blanks(port: int) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=_HEADERS, timeout=_WITHIN_S) as web:
        hello = {**_HELLO, "params": {**_HELLO["params"], "_meta": meta}}
        newest = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "initialize"}
        refused = await web.post("/mcp", json=hello, headers=newest)
    assert refused.status_code == 404 and refused.json()["error"]["code"] == -32601
    call = {"name": "list_sandboxes", "arguments": {}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        *(f"{name}: {value}" for name, value in _HEADERS.items()),
        *("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name:   list_sandboxes \t", "Connection: close"),
        f"Content-Length: {len(body)}",
    ]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(("\r\n".join(lines) + f"\r\n\r\n{body}").encode())
    answer = (await asyncio.wait_for(reader.read(), _WITHIN_S)).decode()
    writer.close()
    assert answer.startswith("HTTP/1.1 200") and '"sandboxes"' in answer, answer


async def opened(web: httpx.AsyncClient) -> dict[str, str]:
    """The headers of a session that has been initialized."""
    hello = {**_HELLO, "params": {**_HELLO["params"], "protocolVersion": "2025-11-25"}}
    answer = await web.post("/mcp", json=hello)
    session = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
    await web.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
    return session


def calling(tool: str, **arguments: Any) -> dict[str, Any]:
    """Always with the same id: what belongs to whom is not told by it."""
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


async def broken_off(web: httpx.AsyncClient, session: dict[str, str], request: dict[str, Any]) -> str:
    """The id of the first event: the connection is closed as soon as it is there."""
    async with web.stream("POST", "/mcp", json=request, headers=session) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("id: "):
                return line[4:]
    raise AssertionError("the answer has no event with an id")


async def fetched(web: httpx.AsyncClient, session: dict[str, str], last: str) -> dict[str, Any]:
    async with asyncio.timeout(_WITHIN_S):
        while True:
            async with web.stream("GET", "/mcp", headers={**session, "Last-Event-ID": last}) as answer:
                async for line in answer.aiter_lines():
                    if line.startswith("data: {") and (message := json.loads(line[6:])).get("id") == 7:
                        return dict(message["result"]["structuredContent"])


@pytest.mark.requirement("mcp-3.13")
async def test_an_answer_whose_connection_broke_can_be_fetched_by_its_session_alone(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=_HEADERS, timeout=_WITHIN_S) as web:
        mine, others = await opened(web), await opened(web)
        made = said(await web.post("/mcp", json=calling("create_sandbox"), headers=mine))["result"]["structuredContent"]
        sandbox = made["sandbox_id"]
        code = "import time; time.sleep(0.3); print({!r})".format
        last = await broken_off(web, mine, calling("run_python", sandbox_id=sandbox, code=code("mine")))
        theirs = await broken_off(web, others, calling("run_python", sandbox_id=sandbox, code=code("others")))
        assert (await fetched(web, mine, last))["stdout"] == "mine\n"
        assert (await fetched(web, others, theirs))["stdout"] == "others\n"
        unknown = await web.get("/mcp", headers={**mine, "Last-Event-ID": "9" * 30})
        assert "data: {" not in unknown.text
        await web.post("/mcp", json=calling("terminate_sandbox", sandbox_id=sandbox), headers=mine)


async def test_what_is_remembered_is_bounded_and_the_oldest_goes_first() -> None:
    budget = EventBudget(max_bytes=2000)
    one, other = budget.new_store(), budget.new_store()
    answer = JSONRPCResponse(jsonrpc="2.0", id=7, result={"text": "x" * 200})
    seen: list[str | None] = []

    async def see(event: EventMessage) -> None:
        seen.append(event.event_id)

    first, second = await one.store_event("7", None), await one.store_event("7", answer)
    assert await one.replay_events_after(first, see) is None and seen == [second]
    assert await other.replay_events_after(first, see) is None and seen == [second]
    for _ in range(10):
        last = await other.store_event("7", None)
    assert await one.replay_events_after(first, see) is None and seen == [second]
    assert await other.replay_events_after(last, see) == "7"


@asynccontextmanager
async def main_server(folder: Path, **changes: Any) -> AsyncIterator[int]:
    """`sandbox serve` in this process: the main application with /mcp in it."""
    skip_where_the_host_lacks("namespaces")
    settings = Settings(state_dir=str(folder), pool_size=0, check_languages=False, log_level="error", node_name="here", **changes)
    app = create_app(settings)
    async with open_platform(settings, sessions=True) as platform:
        app.state.platform = platform
        async with mount_mcp(app, platform):
            server = Server(uvicorn.Config(app, lifespan="off", log_config=None, timeout_graceful_shutdown=5))
            with listening_socket() as ear:
                serving = asyncio.create_task(server.serve([ear]))
                while not server.started:
                    assert not serving.done(), "the server did not start"
                    await asyncio.sleep(0.01)
                try:
                    yield int(ear.getsockname()[1])
                finally:
                    server.should_exit = True
                    await serving


@pytest.mark.requirement("mcp-3.14", "mcp-3.15", "mcp-1.04")
async def test_the_main_server_has_it_behind_its_keys_and_another_stands_in_front(tmp_path: Path, workspace: Path) -> None:
    async with main_server(tmp_path, api_key="secret-of-tests") as port:
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, headers=_HEADERS, timeout=_WITHIN_S) as web:
            assert (await web.post("/mcp", json=_HELLO)).status_code == 401
        with pytest.raises(InvalidStatus):
            async with connect(f"ws://127.0.0.1:{port}/mcp/ws"):
                pass
        await _with_its_key(url)
        async with Client(websocket_client(f"ws://127.0.0.1:{port}/mcp/ws", "secret-of-tests")) as client:
            assert (await client.list_tools()).tools
        async with http_server(workspace, "--server", url, "--tools", "all", SANDBOX_API_KEY="secret-of-tests") as front:
            await _through_another(f"http://127.0.0.1:{front}/mcp")


async def _with_its_key(url: str) -> None:
    headers = {"Authorization": "Bearer secret-of-tests"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=_WITHIN_S) as web,
        Client(streamable_http_client(f"{url}/mcp", http_client=web)) as client,
    ):
        sandbox = figures(await client.call_tool("create_sandbox", {}))["sandbox_id"]
        ran = await client.call_tool("run_code", {"sandbox_id": sandbox, "code": "print(6 * 7)"})
        assert figures(ran)["stdout"] == "42\n"
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=_WITHIN_S) as plain:
            assert (await plain.get(f"/api/v1/sessions/{sandbox}")).json()["status"] == "running"
        await client.call_tool("terminate_sandbox", {"sandbox_id": sandbox})


async def _through_another(url: str) -> None:
    """The same tools on the sandboxes of a server: `mcp-sandboxd --server`."""
    headers = {"Authorization": "Bearer secret-of-tests"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=_WITHIN_S) as web,
        Client(streamable_http_client(url, http_client=web)) as client,
    ):
        made = figures(await client.call_tool("create_sandbox", {"memory_limit": "256M", "environment": {"A": "b"}}))
        at = {"sandbox_id": made["sandbox_id"]}
        ran = await client.call_tool("run_python", {**at, "code": "import os; print(os.environ['A'], input())", "stdin": "c"})
        assert figures(ran)["stdout"] == "b c\n", text(ran)
        failed = await client.call_tool("exec_command", {**at, "command": "bash -c 'echo $A; exit 3'", "working_dir": "/tmp"})
        assert failed.is_error and (figures(failed)["exit_code"], figures(failed)["stdout"]) == (3, "b\n")
        await client.call_tool("write_file", {**at, "path": "d/e.txt", "content": "hé"})
        assert figures(await client.call_tool("read_file", {**at, "path": "d/e.txt"}))["content"] == "hé"
        listed = figures(await client.call_tool("list_files", {**at, "recursive": True}))
        assert [one["path"] for one in listed["files"]] == ["/workspace/d", "/workspace/d/e.txt"]
        first = figures(await client.call_tool("run_code", {**at, "code": "x = 2", "context": "new"}))
        second = await client.call_tool("run_code", {**at, "code": "x * 21", "context": first["context"]})
        assert "VALUE:\n42" in text(second)
        copied = figures(await client.call_tool("fork_sandbox", at))["sandbox_id"]
        assert copied in {one["id"] for one in figures(await client.call_tool("list_sandboxes", {}))["sandboxes"]}
        missing = await client.call_tool("read_file", {**at, "path": "none"})
        assert missing.is_error and "FILE_NOT_FOUND" in text(missing)


@pytest.mark.requirement("mcp-3.21")
async def test_tools_resources_and_prompts_are_offered_over_rest_as_well(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=_WITHIN_S) as web:
        tools = (await web.get("/tools")).json()
        assert "run_python" in json.dumps(tools)
        made = (await web.post("/tools/create_sandbox/execute", json={"arguments": {}})).json()
        sandbox = made["metadata"]["sandbox_id"]
        body = {"arguments": {"sandbox_id": sandbox, "code": "print(6 * 7)"}}
        ran = (await web.post("/tools/run_python/execute", json=body)).json()
        assert not ran["is_error"] and ran["metadata"]["structured"]["stdout"] == "42\n", ran
        assert (await web.get(f"/sandboxes/{sandbox}")).status_code == 200
        assert (await web.post("/tools/dance/execute", json={"arguments": {}})).status_code == 404
        assert "max_sandboxes" in (await web.get("/resources/config://sandbox")).text
        assert "Add two" in (await web.get("/prompts/solve_and_test", params={"task": "Add two numbers"})).text
        await web.post("/tools/terminate_sandbox/execute", json={"arguments": {"sandbox_id": sandbox}})
