"""The older client of the workspace interface, against a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.api.servers import RunningServer, listening

from sandbox_runtime.errors import InvalidRequest, NotFound, PlatformFault, Unavailable
from sandbox_runtime.sdk.shared_env import SharedEnvSandbox
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")), log_level="error", check_languages=False)
    async with listening(settings, sessions=True) as opened:
        yield opened


@pytest.mark.requirement("workspace-5.02", "workspace-5.03")
async def test_every_call_of_the_older_client(server: RunningServer, tmp_path: Path) -> None:
    local = tmp_path / "local.txt"
    local.write_text("from here")
    async with SharedEnvSandbox(session_id="old", servers=[server.url]) as sandbox:
        assert (await sandbox.create_session(size="50M"))["session_id"] == "old"
        assert (await sandbox.upload_file(str(local), "there.txt"))["size"] == 9
        assert (await sandbox.upload_file(local))["filename"] == "local.txt"
        assert await sandbox.download_file("there.txt") == b"from here"
        assert await sandbox.download_file("there.txt", tmp_path / "back.txt") == tmp_path / "back.txt"
        assert (tmp_path / "back.txt").read_text() == "from here"
        assert (await sandbox.create_file("#!/bin/sh\necho $1", "say.sh", 0o755))["filename"] == "say.sh"
        assert (await sandbox.execute("./say.sh", "a b"))["stdout"] == "a b\n"
        assert (await sandbox.execute("ls | wc -l"))["returncode"] == 0
        assert {one["filename"] for one in (await sandbox.list_files())["files"]} == {"there.txt", "local.txt", "say.sh"}
        assert (await sandbox.list_files(".", recursive=True))["files"]
        read = await sandbox.read_file("there.txt", offset=5, buffer_size=100)
        assert (read["content"], read["is_eof"]) == ("here", True)
        assert (await sandbox.get_status())["exists"] is True
        assert (await sandbox.delete_session())["status"] == "success"


@pytest.mark.requirement("workspace-5.02")
async def test_scripts_give_their_output_their_variables_and_their_handlers_value(server: RunningServer) -> None:
    async with SharedEnvSandbox("scripts", [server.url]) as sandbox:
        told = await sandbox.execute_code("x = [1, 2]\nprint(len(x))", filename="s.py", output_params=["x"])
        assert (told["stdout"], told["returncode"], told["output_variables"]) == ("2\n", 0, {"x": [1, 2]})
        told = await sandbox.execute_code("echo $2", args=["a", "b"], script_type="shell")
        assert told["stdout"] == "b\n"
        told = await sandbox.execute_code("def handler(event): return event['n']", event={"n": 7}, timeout=5)
        assert (told["result"], told["stdout"]) == (7, "")


@pytest.mark.requirement("workspace-5.02")
async def test_what_the_server_refuses_is_raised(server: RunningServer) -> None:
    async with SharedEnvSandbox("refused", [server.url]) as sandbox:
        with pytest.raises(NotFound, match="File not found"):
            await sandbox.download_file("none.txt")
        with pytest.raises(PlatformFault, match="Session already exists"):
            await sandbox.create_session()
        with pytest.raises(InvalidRequest):
            await sandbox.download_file("../x")
        with pytest.raises(PlatformFault, match="EFAST_DOWNLOADER_URL"):
            await sandbox.download_from_efast([{"docid": "gns://x"}])


@pytest.mark.requirement("workspace-5.03")
async def test_answers_of_all_servers_are_unwrapped() -> None:
    unwrap = SharedEnvSandbox._unwrap_result
    assert unwrap({"result": {"a": 1}}) == unwrap({"a": 1}) == {"a": 1}
    assert unwrap({"success": True, "data": {"a": 1}, "error": None, "result": 5}) == {"a": 1}
    assert unwrap(None) is None


async def test_a_session_belongs_to_one_of_several_servers() -> None:
    urls = [f"http://127.0.0.1:{port}" for port in (1, 2, 3)]
    chosen = {SharedEnvSandbox(f"s{n}", urls)._transport.base_url for n in range(50)}
    assert chosen == set(urls)
    assert SharedEnvSandbox("s", urls)._transport.base_url == SharedEnvSandbox("s", urls)._transport.base_url
    for wrong in ([], "http://127.0.0.1:1"):
        with pytest.raises(InvalidRequest):
            SharedEnvSandbox("s", wrong)


async def test_a_server_that_is_not_there_is_told() -> None:
    async with SharedEnvSandbox("s", ["http://127.0.0.1:1"], max_attempts=1) as sandbox:
        with pytest.raises(Unavailable):
            await sandbox.get_status()
