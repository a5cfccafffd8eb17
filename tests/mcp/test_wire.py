"""What goes over standard streams, byte by byte: a client that is wrong, slow or gone must not matter to anything else."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from tests.conftest import skip_where_the_host_lacks
from tests.mcp.conftest import COMMAND, STARTED_WITHIN_S, client_of, environment
from tests.mcp.results import figures, nothing_runs_in
from websockets.asyncio.client import connect

pytestmark = pytest.mark.asyncio(loop_scope="module")
_WITHIN_S = 60.0


class Wire:
    """A process that speaks over its standard streams."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def send(self, message: object) -> None:
        await self.send_raw(json.dumps(message).encode() + b"\n")

    async def send_raw(self, raw: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(raw)
        await self.process.stdin.drain()

    async def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), STARTED_WITHIN_S)
        assert line, "the server is gone"
        return dict(json.loads(line))

    async def ask(self, method: str, params: dict[str, Any] | None = None, number: object = 1) -> dict[str, Any]:
        await self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})
        while (answer := await self.next()).get("id") != number:
            assert "method" in answer, answer
        return answer

    async def begin(self, version: str = "2024-11-05") -> dict[str, Any]:
        client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        answer = await self.ask("initialize", client)
        await self.send({"jsonrpc": "2.0", "method": "initialized"})
        return answer

    async def call(self, tool: str, number: object = 2, **arguments: Any) -> dict[str, Any]:
        return dict((await self.ask("tools/call", {"name": tool, "arguments": arguments}, number))["result"])


@asynccontextmanager
async def speaking(workspace: Path, *arguments: str) -> AsyncIterator[Wire]:
    skip_where_the_host_lacks("namespaces")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", COMMAND, *arguments),
        env=environment(workspace),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=32 * 1024**2,
    )
    try:
        yield Wire(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wire(workspace: Path) -> AsyncIterator[Wire]:
    """One that is initialized, for all tests that leave it so."""
    async with speaking(workspace) as opened:
        before = await opened.ask("tools/list")
        assert before["error"]["code"] == -32600 and "not initialized" in before["error"]["message"]
        answer = await opened.begin()
        assert answer["result"]["protocolVersion"] == "2024-11-05"
        yield opened


@pytest.mark.requirement("mcp-3.06", "mcp-3.07")
async def test_the_oldest_revision_is_spoken_and_the_capabilities_told(wire: Wire) -> None:
    again = await wire.ask(
        "initialize", {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    )
    assert again["error"]["code"] == -32600 and again["error"]["message"] == "already initialized"
    assert (await wire.ask("ping"))["result"] == {}
    assert (await wire.ask("shutdown"))["result"] == {}
    assert (await wire.ask("logging/setLevel", {"level": "warning"}))["result"] == {}


@pytest.mark.requirement("mcp-2.04")
async def test_ten_tools_are_offered_where_nothing_is_configured(wire: Wire) -> None:
    tools = (await wire.ask("tools/list"))["result"]["tools"]
    assert len(tools) == 10 and {"create_sandbox", "run_code", "write_file"} <= {tool["name"] for tool in tools}


@pytest.mark.requirement("mcp-3.08")
@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{not json}\n", -32700),
        (b"\xff\xfe\n", -32700),
        (b"[1, 2]\n", -32600),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "ping"}\n', -32600),
        (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}\n', -32600),
        (b'"' + b"x" * (11 * 1024**2) + b'"\n', -32600),
    ],
    ids=["no JSON", "no text", "a list", "another version", "an object as id", "eleven megabytes"],
)
async def test_what_is_no_message_is_answered_and_the_connection_goes_on(wire: Wire, raw: bytes, code: int) -> None:
    await wire.send_raw(raw)
    assert (await wire.next())["error"]["code"] == code
    assert (await wire.ask("ping"))["result"] == {}


@pytest.mark.requirement("mcp-3.09")
async def test_unknown_methods_and_wrong_params_are_errors_with_the_ids_they_came_with(wire: Wire) -> None:
    assert (await wire.ask("tools/dance", number="seven"))["error"]["code"] == -32601
    assert (await wire.ask("tools/call", {"name": 5}))["error"]["code"] == -32602
    assert (await wire.ask("tools/call", {"name": "dance"}))["error"]["code"] == -32000
    assert (await wire.ask("resources/read", {"uri": "config://nothing"}))["error"]["code"] == -32004
    await wire.send({"jsonrpc": "2.0", "id": 99, "result": {}})
    await wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}})
    assert (await wire.ask("ping"))["result"] == {}


@pytest.mark.requirement("mcp-4.17")
async def test_the_word_filter_is_strict_unless_it_is_told_otherwise(wire: Wire) -> None:
    sandbox = (await wire.call("create_sandbox"))["structuredContent"]["sandbox_id"]
    refused = await wire.call("run_code", sandbox_id=sandbox, code="print(open('/etc/hostname'))")
    assert refused["isError"] and "validation_level" in refused["content"][0]["text"]
    await wire.call("terminate_sandbox", sandbox_id=sandbox)


@pytest.mark.requirement("mcp-3.06")
@pytest.mark.parametrize("version", [*HANDSHAKE_PROTOCOL_VERSIONS, "1999-01-01"])
async def test_every_revision_that_begins_with_a_handshake_is_agreed_on(port: int, version: str) -> None:
    client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    async with connect(f"ws://127.0.0.1:{port}/mcp/ws") as socket:
        await socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}))
        result = json.loads(await asyncio.wait_for(socket.recv(), _WITHIN_S))["result"]
    assert result["protocolVersion"] == (version if version in HANDSHAKE_PROTOCOL_VERSIONS else HANDSHAKE_PROTOCOL_VERSIONS[-1])
    assert result["capabilities"]["tools"] == {"listChanged": False}
    assert result["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
    assert result["capabilities"]["prompts"] == {"listChanged": True} and "logging" in result["capabilities"]


@pytest.mark.requirement("mcp-3.10")
async def test_a_client_that_vanishes_in_a_call_leaves_no_process_and_no_folder(workspace: Path, tmp_path: Path) -> None:
    """It closes both pipes while its program runs for ever: the server ends by itself, and everything with it."""
    async with speaking(workspace, "-w", str(tmp_path)) as wire:
        await wire.begin()
        sandbox = (await wire.call("create_sandbox"))["structuredContent"]["sandbox_id"]
        code = "import time\nprint('up', flush=True)\nwhile True: time.sleep(1)"
        request = {"name": "run_code", "arguments": {"sandbox_id": sandbox, "code": code, "timeout": 300}}
        await wire.send({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": request})
        assert (await wire.next())["params"]["data"]["data"] == "up\n"
        children = _descendants(wire.process.pid)
        assert children
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        assert await asyncio.wait_for(wire.process.wait(), _WITHIN_S) == 0
    assert not [pid for pid in children if os.path.exists(f"/proc/{pid}")]
    assert not list(tmp_path.iterdir())


@pytest.mark.requirement("mcp-3.10")
async def test_a_websocket_that_is_gone_takes_its_program_along(workspace: Path, port: int) -> None:
    async with client_of("http", workspace, port) as client:
        sandbox = figures(await client.call_tool("create_sandbox", {}))["sandbox_id"]
        code = "import time\nprint('up', flush=True)\nwhile True: time.sleep(1)"
        request = {"name": "run_code", "arguments": {"sandbox_id": sandbox, "code": code, "timeout": 300}}
        hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        socket = await connect(f"ws://127.0.0.1:{port}/mcp/ws")
        for number, (method, params) in enumerate((("initialize", hello), ("tools/call", request))):
            await socket.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
            await asyncio.wait_for(socket.recv(), _WITHIN_S)  # what is agreed on; then the program's first word
        socket.transport.abort()
        await nothing_runs_in(client, sandbox)
        await client.call_tool("terminate_sandbox", {"sandbox_id": sandbox})


@pytest.mark.requirement("mcp-3.10")
async def test_the_notification_exit_ends_the_server(workspace: Path) -> None:
    async with speaking(workspace) as wire:
        await wire.begin()
        await wire.send({"jsonrpc": "2.0", "method": "exit"})
        assert await asyncio.wait_for(wire.process.wait(), _WITHIN_S) == 0


def _descendants(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found
