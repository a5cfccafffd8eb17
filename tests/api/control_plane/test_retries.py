"""Platform faults are retried and never count against the program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.control_plane.clients import ControlPlaneClient, in_process_client

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ControlPlaneClient]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")), session_retry_first_s=0.001, check_languages=False, log_level="error"
    )
    async with in_process_client(settings) as opened:
        yield opened


def break_first(client: ControlPlaneClient, session_id: str, times: int) -> list[int]:
    """Let the environment of a session fail this many times before anything runs. Returns a list with an item for each run."""
    environment: Any = client.platform.sessions._deps.registry.open[session_id].environment
    real, runs = environment.run, []

    async def run(*arguments: Any) -> Any:
        runs.append(1)
        if len(runs) <= times:
            raise PlatformFault("no box could be opened")
        return await real(*arguments)

    environment.run = run
    return runs


@pytest.mark.requirement("control_plane-3.04")
@pytest.mark.parametrize("times", [1, 3])
async def test_a_fault_before_the_program_was_seen_is_tried_again(client: ControlPlaneClient, times: int) -> None:
    session = (await client.session())["id"]
    runs = break_first(client, session, times)
    execution = await client.run(session, "print('once')")
    assert execution["status"] == "completed" and execution["stdout"] == "once\n"
    assert execution["retry_count"] == times and len(runs) == times + 1


@pytest.mark.requirement("control_plane-3.04")
async def test_after_three_times_it_has_crashed_and_says_so(client: ControlPlaneClient) -> None:
    session = (await client.session())["id"]
    runs = break_first(client, session, 10)
    execution = await client.run(session, "print('never')")
    assert execution["status"] == "crashed" and execution["retry_count"] == 3 and len(runs) == 4
    assert "no box could be opened" in execution["error_message"] and execution["exit_code"] is None


@pytest.mark.requirement("control_plane-3.04")
async def test_a_program_that_fails_is_not_tried_again(client: ControlPlaneClient) -> None:
    session = (await client.session())["id"]
    runs = break_first(client, session, 0)
    execution = await client.run(session, "raise SystemExit(3)")
    assert execution["status"] == "failed" and execution["exit_code"] == 3 and execution["retry_count"] == 0 and len(runs) == 1
