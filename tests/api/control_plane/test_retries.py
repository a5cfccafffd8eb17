"""Faults of this platform are tried again, and are never the program's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.control_plane.doors import Door, door

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")), session_retry_first_s=0.001, check_languages=False, log_level="error"
    )
    async with door(settings) as opened:
        yield opened


def break_first(client: Door, session_id: str, times: int) -> list[int]:
    """The home of the session fails so often before anything runs, and then works. Returns what counts its runs."""
    home: Any = client.platform.sessions._deps.registry.open[session_id].home
    real, runs = home.run, []

    async def run(*arguments: Any) -> Any:
        runs.append(1)
        if len(runs) <= times:
            raise PlatformFault("no box could be opened")
        return await real(*arguments)

    home.run = run
    return runs


@pytest.mark.requirement("control_plane-3.04")
@pytest.mark.parametrize("times", [1, 3])
async def test_a_fault_before_the_program_was_seen_is_tried_again(client: Door, times: int) -> None:
    session = (await client.session())["id"]
    runs = break_first(client, session, times)
    told = await client.run(session, "print('once')")
    assert told["status"] == "completed" and told["stdout"] == "once\n"
    assert told["retry_count"] == times and len(runs) == times + 1


@pytest.mark.requirement("control_plane-3.04")
async def test_after_three_times_it_has_crashed_and_says_so(client: Door) -> None:
    session = (await client.session())["id"]
    runs = break_first(client, session, 10)
    told = await client.run(session, "print('never')")
    assert told["status"] == "crashed" and told["retry_count"] == 3 and len(runs) == 4
    assert "no box could be opened" in told["error_message"] and told["exit_code"] is None


@pytest.mark.requirement("control_plane-3.04")
async def test_a_program_that_fails_is_not_tried_again(client: Door) -> None:
    session = (await client.session())["id"]
    runs = break_first(client, session, 0)
    told = await client.run(session, "raise SystemExit(3)")
    assert told["status"] == "failed" and told["exit_code"] == 3 and told["retry_count"] == 0 and len(runs) == 1
