"""One server over each transport: a process with its own engine on standard streams, and one with HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from tests.conftest import skip_where_the_host_lacks
from tests.mcp.sockets import websocket_client

COMMAND = "from sandbox_runtime.cli.mcp_sandboxd import main; main()"
STARTED_WITHIN_S = 90.0


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp")


def environment(workspace: Path, **more: str) -> dict[str, str]:
    """Nothing of this machine's own settings; toolchains and the guest's interpreter are those of the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOXRUNNER_")}
    sandbox = {"SANDBOX_POOL_SIZE": "1", "SANDBOX_CHECK_LANGUAGES": "false"}
    ours = {"SANDBOXRUNNER_SANDBOX_WORKSPACE_DIR": str(workspace), "SANDBOXRUNNER_LOGGING_LEVEL": "error"}
    return {**kept, **sandbox, **ours, "SANDBOXRUNNER_SANDBOX_MAX_SANDBOXES": "200", **more}


def stdio(workspace: Path, *arguments: str, **more: str) -> StdioServerParameters:
    skip_where_the_host_lacks("namespaces")
    return StdioServerParameters(command=sys.executable, args=["-c", COMMAND, *arguments], env=environment(workspace, **more))


@asynccontextmanager
async def http_server(workspace: Path, *arguments: str, **more: str) -> AsyncIterator[int]:
    """The port of `mcp-sandboxd --http` in a process of its own."""
    skip_where_the_host_lacks("namespaces")
    with socket.socket() as ear:
        ear.bind(("127.0.0.1", 0))
        port = int(ear.getsockname()[1])
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", COMMAND, "--http", "--port", str(port), *arguments, env=environment(workspace, **more)
    )
    try:
        await _answering(f"http://127.0.0.1:{port}/health", process)
        yield port
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), STARTED_WITHIN_S)


async def _answering(url: str, process: asyncio.subprocess.Process) -> None:
    async with httpx.AsyncClient(timeout=STARTED_WITHIN_S) as client, asyncio.timeout(STARTED_WITHIN_S):
        while True:
            assert process.returncode is None, "the server did not start"
            try:
                await client.get(url)
                return
            except httpx.TransportError:
                await asyncio.sleep(0.05)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def port(workspace: Path) -> AsyncIterator[int]:
    async with http_server(workspace, "--tools", "all") as found:
        yield found


@asynccontextmanager
async def held(client: Client) -> AsyncIterator[Client]:
    """Opened and closed by one task: a fixture's two halves are run by different ones, which the client's scopes do not bear."""
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def hold() -> None:
        try:
            async with client:
                ready.set_result(None)
                await done.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise

    task = asyncio.create_task(hold())
    await ready
    try:
        yield client
    finally:
        done.set()
        await task


def client_of(transport: str, workspace: Path, port: int, **words: Any) -> Client:
    if transport == "stdio":
        return Client(stdio(workspace, "--tools", "all"), **words)
    if transport == "http":
        return Client(f"http://127.0.0.1:{port}/mcp", **words)
    return Client(websocket_client(f"ws://127.0.0.1:{port}/mcp/ws"), **words)
