"""`sandbox serve --reload` has the same doors as a server that does not reload; files of its sandboxes are watched from afar."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from mcp import Client
from tests.conftest import skip_where_the_host_lacks
from tests.mcp.conftest import STARTED_WITHIN_S, _answering, environment
from tests.mcp.results import figures

from sandbox_runtime.errors import NotFound
from sandbox_runtime.mcp.hosts.remote import RemoteHost
from sandbox_runtime.sdk import SandboxClient

COMMAND = "from sandbox_runtime.cli.main import main; main()"
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    skip_where_the_host_lacks("namespaces")
    folder = tmp_path_factory.mktemp("reloading")
    with socket.socket() as ear:
        ear.bind(("127.0.0.1", 0))
        port = int(ear.getsockname()[1])
    words = ["serve", "--reload", "--host", "127.0.0.1", "--port", str(port), "--set", f"state_dir={folder}"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", COMMAND, *words, env=environment(Path(folder), SANDBOX_LOG_LEVEL="error"), cwd=folder
    )
    try:
        await _answering(f"http://127.0.0.1:{port}/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), STARTED_WITHIN_S)


@pytest.mark.requirement("mcp-3.24")
async def test_a_server_that_reloads_has_mcp(url: str) -> None:
    async with Client(f"{url}/mcp") as client:
        made = figures(await client.call_tool("create_sandbox", {}))
        ran = await client.call_tool("exec_command", {"sandbox_id": made["sandbox_id"], "command": "echo here"})
        assert figures(ran)["stdout"] == "here\n"
        await client.call_tool("terminate_sandbox", {"sandbox_id": made["sandbox_id"]})


async def told(host: RemoteHost, name: str) -> None:
    async with contextlib.aclosing(host.changes("watched")) as changes:  # type: ignore[type-var]
        async for names in changes:
            if name in names:
                return


@pytest.mark.requirement("mcp-3.19")
async def test_files_of_a_server_are_watched_there_and_not_by_asking_again_and_again(url: str) -> None:
    async with SandboxClient(url) as client, asyncio.timeout(60):
        await client.create_session("watched", {})
        async with contextlib.aclosing(client.watch_files("watched")) as events:  # type: ignore[type-var]
            assert (await anext(events)).kind == "ready"
            await client.upload_file("watched", b"x", "a/b.txt")
            names = set()
            while "a/b.txt" not in names:
                names.add((await anext(events)).name)
        seen = asyncio.ensure_future(told(RemoteHost(client), "c.txt"))
        while not seen.done():  # the watch stands a moment after it was asked for
            await client.upload_file("watched", b"y", "c.txt")
            await asyncio.wait((seen,), timeout=0.2)
        await seen
        await client.terminate_session("watched")
        with pytest.raises(NotFound):
            await anext(RemoteHost(client).changes("never"))
