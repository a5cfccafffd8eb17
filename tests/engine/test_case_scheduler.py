"""One build, many inputs, each in a box of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.engine.faulty import FaultyBackend
from tests.engine.makers import CPP, platform_in, steps

from sandbox_runtime.assembly import Platform
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Ending, File, Job, MultiRunResult, Outcome

ECHO = "import sys; data = sys.stdin.read(); print(data); sys.exit(data == 'bad')"


def texts(result: MultiRunResult) -> list[str | None]:
    return [None if run is None else run.stdout.text for run in result.runs]


async def test_python_runs_once_for_each_input_in_order(platform: Platform, backend: FaultyBackend) -> None:
    result = await platform.engine.run_many(Job("python", ECHO), [b"a", None, b"c"], parallel=2)
    assert result.compile is None and texts(result) == ["a\n", "\n", "c\n"] and result.ok
    assert not backend.open_boxes and platform.admission.busy == 0


async def test_what_compiles_is_compiled_once(platform: Platform) -> None:
    await platform.engine.run(Job("cpp", "int main() {}"))
    before = steps(platform, "cpp", "compile")
    result = await platform.engine.run_many(Job("cpp", CPP), [f"{n} {n}".encode() for n in range(5)])
    assert result.compile is not None and result.compile.ok
    assert texts(result) == ["0", "2", "4", "6", "8"]
    assert steps(platform, "cpp", "compile") == before + 1


async def test_a_build_is_found_again_by_one_and_by_many(tmp_path: Path) -> None:
    skip_where_the_host_lacks("namespaces")
    async with platform_in(tmp_path) as platform:
        first = await platform.engine.run_many(Job("cpp", CPP), [b"1 1"])
        again = await platform.engine.run_many(Job("cpp", CPP), [b"1 2", b"1 3"])
        alone = await platform.engine.run(Job("cpp", CPP, b"1 4"))
    assert first.compile is not None and again.compile is not None and alone.compile is not None
    assert (first.compile.cached, again.compile.cached, alone.compile.cached) == (False, True, True)
    assert texts(again) == ["3", "4"]


async def test_what_does_not_compile_is_not_run(platform: Platform, backend: FaultyBackend) -> None:
    result = await platform.engine.run_many(Job("cpp", "int main( {"), [b"1", b"2"])
    assert result.compile is not None and not result.compile.ok
    assert result.runs == (None, None) and not result.ok
    assert not backend.open_boxes


@pytest.mark.parametrize("settings", ["namespaces"], indirect=True)
async def test_no_input_sees_what_another_left(platform: Platform) -> None:
    code = (
        "import os, sys; print(sorted(os.listdir('.')), os.path.exists('/tmp/left')); open('left', 'w'); open('/tmp/left', 'w')"
    )
    result = await platform.engine.run_many(Job("python", code, files=(File("given", b""),)), [None] * 4, parallel=1)
    assert len(set(texts(result))) == 1 and "left'" not in (texts(result)[0] or "")


@pytest.mark.parametrize("parallel", [1, 3])
async def test_after_a_failure_nothing_behind_it_has_an_outcome(platform: Platform, parallel: int) -> None:
    inputs = [b"a", b"b", b"bad", b"d", b"bad", b"f"]
    result = await platform.engine.run_many(Job("python", ECHO), inputs, stop_at_first_failure=True, parallel=parallel)
    assert texts(result) == ["a\n", "b\n", "bad\n", None, None, None]
    assert platform.admission.busy == 0


async def test_without_that_wish_every_input_is_run(platform: Platform) -> None:
    result = await platform.engine.run_many(Job("python", ECHO), [b"bad", b"b"])
    assert texts(result) == ["bad\n", "b\n"] and not result.ok


async def test_each_input_has_the_limits_of_the_job(platform: Platform) -> None:
    code = "import sys, time\nif sys.stdin.read(): time.sleep(60)\nprint(1)"
    limits = platform.request_limits.default.replace(wall_s=2)
    result = await platform.engine.run_many(Job("python", code, run_limits=limits), [b"", b"x", b""])
    assert [run is not None and run.ending for run in result.runs] == [Ending.exited, Ending.timed_out, Ending.exited]


async def test_what_cannot_be_laid_into_another_box_is_compiled_for_each_input(tmp_path: Path) -> None:
    skip_where_the_host_lacks("namespaces")
    async with platform_in(tmp_path) as platform:
        result = await platform.engine.run_many(Job("maker", "echo cat > real; ln -s real out"), [b"1", b"2"])
    assert texts(result) == ["1", "2"]


async def test_a_cancelled_caller_leaves_no_box_and_no_place(platform: Platform, backend: FaultyBackend) -> None:
    await platform.engine.run(Job("bash", ""))
    running = asyncio.create_task(platform.engine.run_many(Job("bash", "sleep 30"), [None] * 6, parallel=3))
    while len(backend.open_boxes) < 3:
        await asyncio.sleep(0.01)
    assert platform.admission.busy == 3
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await platform.pool.close()
    assert not backend.open_boxes and platform.admission.busy == 0


async def test_others_are_served_between_the_inputs_of_one(tmp_path: Path) -> None:
    """All places are taken by one job with many inputs; whoever comes gets the next that is free, not the last."""
    async with platform_in(tmp_path, isolation="none", max_concurrency=2) as platform:
        await platform.engine.run(Job("bash", ""))
        many = asyncio.create_task(platform.engine.run_many(Job("bash", "sleep 0.1"), [None] * 20, parallel=2))
        while platform.admission.busy < 2:
            await asyncio.sleep(0.01)
        other = await platform.engine.run(Job("bash", "echo 1"))
        assert other.run is not None and other.run.ok and not many.done()
        assert (await many).ok and platform.admission.busy == 0


async def test_outputs_are_bounded_all_together_and_say_so(tmp_path: Path) -> None:
    async with platform_in(tmp_path, isolation="none", max_request_bytes=300_000) as platform:
        result = await platform.engine.run_many(Job("bash", "head -c 200000 /dev/zero"), [None] * 3, parallel=1)
    sizes = [(len(bytes(run.stdout.head)), run.stdout.dropped_bytes) for run in result.runs if isinstance(run, Outcome)]
    assert sizes[0][1] == 0 and sizes[1] == sizes[2] == (65536, 200_000 - 65536)


@pytest.mark.parametrize(
    ("job", "inputs", "parallel", "told"),
    [
        (Job("python", ""), [], 1, "1 to"),
        (Job("python", ""), [None] * 10_001, 1, "1 to"),
        (Job("python", ""), [b"x" * 1001], 1, "input 0"),
        (Job("python", "", fetch=("x",)), [None], 1, "fetch"),
        (Job("python", ""), [None], 0, "parallel"),
        (Job("python", "x" * 1001), [None], 1, "code"),
    ],
)
async def test_what_is_out_of_bounds_is_refused(
    platform: Platform, job: Job, inputs: list[bytes | None], parallel: int, told: str
) -> None:
    with pytest.raises(InvalidRequest, match=told):
        await platform.engine.run_many(job, inputs, parallel=parallel)
