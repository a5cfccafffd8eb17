"""The client as its users write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.api.servers import listening

from sandbox_runtime.sdk import SandboxClient
from sandbox_runtime.settings import Settings


@pytest.mark.requirement("workspace-5.01")
async def test_sessions_code_commands_and_files(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path / "state"), log_level="error", check_languages=False)
    async with listening(settings, sessions=True) as server:
        client = SandboxClient(base_url=server.url)
        await client.create_session(session_id="my_session", config={"timeout": 60})
        told = await client.execute_code(session_id="my_session", code="print('Hello from sandbox!')", timeout=10)
        assert (told.stdout, told.stderr, told.exit_code) == ("Hello from sandbox!\n", "", 0) and told.metrics is not None
        told = await client.execute_code("my_session", "def handler(event): return {'n': 1}")
        assert told.result == {"n": 1}
        assert (await client.execute("my_session", "echo", "a b")).stdout == "a b\n"
        (tmp_path / "f.txt").write_text("in")
        await client.upload_file("my_session", tmp_path / "f.txt")
        assert await client.download_file("my_session", "f.txt") == b"in"
        await client.close_session("my_session")
        await client.close()
