"""Notebooks when the platform fails them, or their callers go away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.engine.faulty import FaultyBackend, kill
from tests.engine.notebooks import Runner, out, shown

from sandbox_runtime.assembly import open_configured_backend, open_platform
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.model import Blame, Ending
from sandbox_runtime.settings import Settings

WITHIN_S = 60.0


@asynccontextmanager
async def faulty(folder: Path, ready: int = 0) -> AsyncIterator[tuple[Runner, FaultyBackend]]:
    settings = Settings(state_dir=str(folder / "state"), check_languages=False, log_level="error", notebook_pool_size=ready)
    backend = FaultyBackend(open_configured_backend(settings))
    async with open_platform(settings, backend_context=backend, prewarm=False) as platform:
        yield Runner(platform), backend


async def until_started(run: Runner, backend: FaultyBackend, folder: str = "started") -> None:
    """Until the cell that runs has made this file."""
    async with asyncio.timeout(WITHIN_S):
        while not any(_has(box, folder) for box in backend.open_boxes):
            await asyncio.sleep(0.02)


def _has(box: object, name: str) -> bool:
    return Path(f"/proc/self/fd/{box.files_fd}/workspace/{name}").exists()  # type: ignore[attr-defined]


LONG = "open('started', 'w').close()\nimport time\ntime.sleep(600)"


async def test_the_box_is_closed_before_the_result_is_given(tmp_path: Path) -> None:
    async with faulty(tmp_path) as (run, backend):
        assert (await run("1")).complete
        assert len(backend.boxes) == 1 and backend.open_boxes == []


async def test_a_cancelled_caller_leaves_no_box_and_no_place_taken(tmp_path: Path) -> None:
    async with faulty(tmp_path) as (run, backend):
        task = asyncio.create_task(run(LONG))
        await until_started(run, backend)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert backend.open_boxes == [] and run.platform.admission.busy == 0
        assert shown((await run("1 + 1")).cells[0]) == ["2"]


async def test_a_caller_who_goes_while_a_kernel_starts_leaves_nothing(tmp_path: Path) -> None:
    async with faulty(tmp_path) as (run, backend):
        await run("1")
        task = asyncio.create_task(run("1"))
        async with asyncio.timeout(WITHIN_S):
            while len(backend.boxes) < 2:
                await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert backend.open_boxes == [] and run.platform.admission.busy == 0


async def test_a_box_that_died_before_its_kernel_was_up_is_replaced(tmp_path: Path) -> None:
    async with faulty(tmp_path) as (run, backend):
        await run("1")
        backend.kill_next = 1
        assert shown((await run("1 + 1")).cells[0]) == ["2"]
        assert len(backend.boxes) == 3 and backend.open_boxes == []


async def test_a_box_that_dies_under_a_notebook_is_blamed_on_the_platform(tmp_path: Path) -> None:
    async with faulty(tmp_path) as (run, backend):
        task = asyncio.create_task(run("print('ran')", LONG))
        await until_started(run, backend)
        kill(backend.open_boxes[-1])
        result = await task
    assert (result.driver.ending, result.driver.blame, result.complete) == (Ending.lost, Blame.platform, False)
    assert [out(cell) for cell in result.cells] == ["ran\n"]
    assert len(backend.boxes) == 1  # a cell had ended, so it was not begun anew


async def test_a_platform_that_cannot_open_boxes_says_so(tmp_path: Path) -> None:
    async with faulty(tmp_path) as (run, backend):
        backend.failing = True
        with pytest.raises(PlatformFault, match="no boxes today"):
            await run("1")
        backend.failing = False
        assert (await run("1")).complete


async def test_kernels_that_cannot_be_started_ahead_are_started_when_needed(tmp_path: Path) -> None:
    async with faulty(tmp_path, ready=1) as (run, backend):
        await run("1")
        async with asyncio.timeout(WITHIN_S):
            while run.platform.notebooks.idle < 1:
                await asyncio.sleep(0.02)
        backend.failing = True
        assert (await run("1")).complete  # with the one that waits
        async with asyncio.timeout(WITHIN_S):
            while not backend.refused:
                await asyncio.sleep(0.02)
        backend.failing = False
        assert shown((await run("1 + 1")).cells[0]) == ["2"]


async def test_a_platform_that_closes_while_kernels_wait_or_start_leaves_no_box(tmp_path: Path) -> None:
    async with faulty(tmp_path, ready=3) as (run, backend):
        assert (await run("1")).complete
        async with asyncio.timeout(WITHIN_S):
            while not run.platform.notebooks.idle:
                await asyncio.sleep(0.02)
    assert backend.open_boxes == []


async def test_many_notebooks_at_once_each_get_their_own_answer(tmp_path: Path) -> None:
    async with faulty(tmp_path, ready=2) as (run, backend):
        results = await asyncio.gather(*(run(f"x = {n}", "print(x)") for n in range(12)))
        assert [out(result.cells[1]) for result in results] == [f"{n}\n" for n in range(12)]
    assert backend.open_boxes == []
