"""The same job again: not compiled again, and in nothing else different."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from pathlib import Path

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.engine.makers import CPP, MAKER, entries, platform_in, printed, steps

from sandbox_runtime.assembly import Platform
from sandbox_runtime.model import Ending, File, Job, JobResult

COUNTED = "date +%s%N > out.stamp; echo 'cat out.stamp' > out"
"""A step whose result shows whether it was taken again."""


@pytest.fixture(autouse=True)
def isolated() -> None:
    skip_where_the_host_lacks("namespaces")


def looked_for(platform: Platform, how: str) -> int:
    lines = platform.metrics.exposition().decode().splitlines()
    return sum(int(float(line.split()[-1])) for line in lines if line.startswith(f'sandbox_builds_looked_for_total{{how="{how}"'))


async def test_the_same_job_again_is_not_compiled_again(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        first = await printed(platform, COUNTED)
        compiled = steps(platform, "maker", "compile")
        assert await printed(platform, COUNTED) == first
        assert steps(platform, "maker", "compile") == compiled
        assert (looked_for(platform, "miss"), looked_for(platform, "hit")) == (1, 1)


async def test_a_build_outlives_the_server(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        first = await printed(platform, COUNTED)
    async with platform_in(tmp_path) as platform:
        assert await printed(platform, COUNTED) == first


async def test_what_the_compiler_said_is_said_again_with_what_it_used(tmp_path: Path) -> None:
    job = Job("maker", "echo warning >&2; echo hello; echo 'echo 1' > out")
    async with platform_in(tmp_path) as platform:
        results = [await platform.engine.run(job) for _ in range(2)]
    first, second = (result.compile for result in results)
    assert first is not None and second is not None
    assert (first.cached, second.cached) == (False, True)
    assert dataclasses.replace(second, cached=False) == first
    assert second.stderr.text == "warning\n" and second.usage.wall_s > 0


async def test_the_run_step_is_always_taken(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        assert [await printed(platform, CPP, stdin, "cpp") for stdin in (b"1 2", b"20 22")] == ["3", "42"]
        assert looked_for(platform, "hit") == 1


async def test_a_hit_gives_files_as_a_miss_does(tmp_path: Path) -> None:
    code = "mkdir -p d; echo made > d/made; echo changed > given; echo 'cat d/made given same; echo x > ran' > out"
    job = Job(
        "maker", code, files=(File("given", b"old"), File("same", b"same")), fetch=("d/made", "given", "same", "ran", "out")
    )
    async with platform_in(tmp_path) as platform:
        results = [await platform.engine.run(job) for _ in range(2)]
        assert looked_for(platform, "hit") == 1
    told = [(result.files, result.run and result.run.stdout.text) for result in results]
    assert told[0] == told[1] and len(told[0][0]) == 5


async def test_a_built_program_can_be_executed(tmp_path: Path) -> None:
    code = "printf '#!/bin/bash\\necho ran' > tool; chmod 755 tool; echo ./tool > out"
    async with platform_in(tmp_path) as platform:
        assert [await printed(platform, code) for _ in range(2)] == ["ran\n", "ran\n"]
        assert looked_for(platform, "hit") == 1


@pytest.mark.parametrize(
    "other",
    [
        Job("maker", COUNTED + " "),
        Job("maker", COUNTED, files=(File("more", b""),)),
    ],
)
async def test_another_job_is_another_build(tmp_path: Path, other: Job) -> None:
    async with platform_in(tmp_path) as platform:
        first = await printed(platform, COUNTED)
        result = await platform.engine.run(other)
        assert result.run is not None and result.run.stdout.text != first


async def test_a_failed_step_is_not_kept(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        for _ in range(2):
            result = await platform.engine.run(Job("maker", "exit 3"))
            assert result.compile is not None and result.compile.exit_code == 3 and not result.compile.cached
    assert entries(tmp_path) == []


async def test_a_row_can_say_that_its_builds_are_not_kept(tmp_path: Path) -> None:
    async with platform_in(tmp_path):
        pass
    row = MAKER.replace("[compile]\n", "[compile]\ncache_build = false\n")
    (tmp_path / "own").mkdir()
    (tmp_path / "own/maker.toml").write_text(row)
    async with platform_in(tmp_path, languages_dir=str(tmp_path / "own")) as platform:
        assert await printed(platform, COUNTED) != await printed(platform, COUNTED)
    assert entries(tmp_path) == []


@pytest.mark.parametrize("changes", [{"build_cache_bytes": 0}, {"isolation": "none"}, {"build_cache_dir": "/proc/nowhere"}])
async def test_where_nothing_is_kept_everything_works_without(tmp_path: Path, changes: dict[str, object]) -> None:
    async with platform_in(tmp_path, **changes) as platform:
        assert await printed(platform, COUNTED) != await printed(platform, COUNTED)
    assert not (tmp_path / "state/builds").exists()


async def test_a_build_over_the_bound_is_not_kept(tmp_path: Path) -> None:
    async with platform_in(tmp_path, build_cache_entry_bytes=2000) as platform:
        await printed(platform, "head -c 3000 /dev/zero > big; echo true > out")
        await printed(platform, "echo true > out")
    assert len(entries(tmp_path)) == 1


async def test_a_damaged_entry_is_a_miss_and_is_replaced(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        first = await printed(platform, COUNTED)
        [entry] = entries(tmp_path)
        entry.write_bytes(entry.read_bytes()[:-3] + b"bad")
        second = await printed(platform, COUNTED)
        assert second != first
        assert await printed(platform, COUNTED) == second


async def test_a_disk_that_is_full_costs_no_answer(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        (tmp_path / "state/builds").rmdir()
        os.symlink("/nowhere", tmp_path / "state/builds")
        assert await printed(platform, COUNTED)


async def test_the_check_of_a_language_is_never_answered_from_the_cache(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        await printed(platform, "echo cat > out", b"x")
        before = steps(platform, "maker", "compile")
        assert (await platform.engine.languages(["maker"], fresh=True))[0].enabled
        assert steps(platform, "maker", "compile") == before + 1


async def test_same_jobs_at_once_are_compiled_once(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        await printed(platform, "int main() {}", language="cpp")
        before = steps(platform, "cpp", "compile")
        told = await asyncio.gather(*(printed(platform, CPP, f"{n} 1".encode(), "cpp") for n in range(6)))
        assert steps(platform, "cpp", "compile") == before + 1
    assert told == [str(n + 1) for n in range(6)]


async def test_whoever_waits_for_a_build_does_not_wait_for_its_run(tmp_path: Path) -> None:
    code = "sleep 0.3; echo 'read word; [ $word = slow ] && sleep 30; echo $word' > out"
    async with platform_in(tmp_path) as platform:
        await printed(platform, "echo true > out")
        slow = asyncio.create_task(printed(platform, code, b"slow\n"))
        await asyncio.sleep(0.1)
        assert await printed(platform, code, b"quick\n") == "quick\n"
        assert not slow.done() and entries(tmp_path) != []
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow


@pytest.mark.parametrize("code", ["sleep 0.3; exit 3", "sleep 0.3; echo cat > real; ln -s real out"])
async def test_where_nothing_comes_of_a_build_each_makes_its_own(tmp_path: Path, code: str) -> None:
    async with platform_in(tmp_path) as platform:
        await printed(platform, "echo true > out")
        before = steps(platform, "maker", "compile")
        results = await asyncio.gather(*(platform.engine.run(Job("maker", code, str(n).encode())) for n in range(3)))
        assert steps(platform, "maker", "compile") == before + 3
    told = [result.run and result.run.stdout.text for result in results]
    assert told in ([None] * 3, ["0", "1", "2"])


async def test_a_cancelled_builder_leaves_those_who_wait_to_themselves(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        await printed(platform, "echo true > out")
        code = "sleep 1; echo 'echo done' > out"
        first = asyncio.create_task(printed(platform, code))
        await asyncio.sleep(0.2)
        second = asyncio.create_task(printed(platform, code))
        await asyncio.sleep(0.2)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert await second == "done\n"


async def test_nobody_waits_for_others_longer_than_an_own_compile_step_may_take(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        await printed(platform, "echo true > out")
        first = asyncio.create_task(platform.engine.run(Job("maker", "sleep 60")))
        await asyncio.sleep(0.2)
        limits = platform.request_limits.default.replace(wall_s=0.3)
        usual = platform.request_limits.default
        result = await platform.engine.run(Job("maker", "sleep 60", compile_limits=limits, run_limits=usual))
        assert result.compile is not None and result.compile.ending is Ending.timed_out and not first.done()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_a_cached_result_is_marked_for_every_door(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        results: list[JobResult] = [await platform.engine.run(Job("maker", COUNTED)) for _ in range(2)]
    assert [result.run is not None and result.run.cached for result in results] == [False, False]
