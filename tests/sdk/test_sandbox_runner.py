from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.api.servers import listening

from sandbox_runtime.sdk.sandbox_runner import APIError, ExecutionError, SandboxNotFoundError, SandboxRunner
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    state: Path = tmp_path_factory.mktemp("state")
    settings = Settings(state_dir=str(state), check_languages=False, log_level="error", api_key="the-key")
    async with listening(settings, sessions=True) as server:
        yield server.url


@pytest.mark.requirement("sandboxes-11.01")
async def test_a_sandbox_runs_code_and_commands_and_holds_files(url: str) -> None:
    def work() -> None:
        with SandboxRunner(url, api_key="the-key") as runner:
            with runner.create_sandbox(name="mine", environment={"A": "1"}, memory_limit="256M") as sandbox:
                assert sandbox.run_python("import os; print(os.environ['A'])").stdout == "1\n"
                failed = sandbox.run_shell("echo no >&2; exit 3")
                assert (failed.success, failed.exit_code, failed.stderr) == (False, 3, "no\n")
                with pytest.raises(ExecutionError):
                    failed.check()
                assert sandbox.exec_command("cat", args=[], stdin="in").check().stdout == "in"
                sandbox.write_file("/workspace/a b/ü.bin", b"\x00\xff")
                assert sandbox.download_file("a b/ü.bin") == b"\x00\xff"
                sandbox.upload_file("text", "ö")
                assert sandbox.read_file("text") == "ö"
                assert {one["name"] for one in sandbox.list_files(recursive=True)} == {"a b", "ü.bin", "text"}
                assert [one["id"] for one in runner.list_sandboxes()] == [sandbox.id]
            assert runner.get_sandbox(sandbox.id).info["status"] == "terminated"

    await asyncio.to_thread(work)


@pytest.mark.requirement("sandboxes-11.01")
async def test_what_is_refused_is_raised_with_its_code(url: str) -> None:
    def work() -> None:
        with SandboxRunner(url, api_key="the-key") as runner:
            with pytest.raises(SandboxNotFoundError) as missing:
                runner.get_sandbox("no/body")
            assert missing.value.code == 404
            with pytest.raises(APIError) as wrong:
                runner.create_sandbox(memory_limit="lots")
            assert wrong.value.code == 400 and wrong.value.details[0]["field"].endswith("memory_limit")
        with SandboxRunner(url, api_key="wrong") as runner, pytest.raises(APIError) as denied:
            runner.list_sandboxes()
        assert denied.value.code == 401
        with SandboxRunner("http://127.0.0.1:9") as runner, pytest.raises(APIError, match="no answer"):
            runner.list_sandboxes()

    await asyncio.to_thread(work)
