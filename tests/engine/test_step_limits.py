"""Steps that take turns over the whole server."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest
from tests.engine.makers import MAKER, platform_in
from tests.isolation.box_helpers import RecordingSink

from sandbox_runtime.errors import TooMany
from sandbox_runtime.model import Job

ALONE = "date +%s%N; sleep 0.2; date +%s%N"


def rows(folder: Path, together: str) -> str:
    """The maker's row with one more line in its run step."""
    (folder / "own").mkdir()
    (folder / "own/maker.toml").write_text(MAKER.replace("[run]\n", f"[run]\n{together}\n"))
    return str(folder / "own")


async def spans(folder: Path, together: str, jobs: int) -> list[tuple[int, int]]:
    """When each of so many runs at once began and ended."""
    async with platform_in(folder, isolation="none", languages_dir=rows(folder, together)) as platform:
        job = Job("maker", f"echo '{ALONE}' > out")
        results = await asyncio.gather(*(platform.engine.run(job) for _ in range(jobs)))
    found = []
    for result in results:
        assert result.run is not None and result.run.ok
        begun, ended = map(int, result.run.stdout.text.split())
        found.append((begun, ended))
    return sorted(found)


async def test_a_step_that_must_be_alone_is_alone(tmp_path: Path) -> None:
    found = await spans(tmp_path, "together = 1", 3)
    assert all(ended <= begun for (_, ended), (begun, _) in itertools.pairwise(found))


async def test_two_at_once_are_two_and_not_three(tmp_path: Path) -> None:
    found = await spans(tmp_path, "together = 2", 5)
    assert all(sum(begun <= moment < ended for begun, ended in found) <= 2 for moment, _ in found)


async def test_who_waits_too_long_for_a_turn_is_told_to_come_back(tmp_path: Path) -> None:
    own = rows(tmp_path, "together = 1")
    async with platform_in(tmp_path, isolation="none", languages_dir=own, queue_wait_s=0.5) as platform:
        await platform.engine.run(Job("maker", "echo true > out"))
        seen = RecordingSink()
        first = asyncio.create_task(platform.engine.run(Job("maker", "echo 'echo begun; sleep 60' > out"), sink=seen))
        await seen.until(b"begun")
        with pytest.raises(TooMany):
            await platform.engine.run(Job("maker", "echo true > out"))
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        last = await platform.engine.run(Job("maker", "echo true > out"))
        assert last.run is not None and last.run.ok and platform.admission.busy == 0
