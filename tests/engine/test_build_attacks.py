"""Hostile compile steps against the build cache: nobody else may ever run what they made."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.engine.makers import entries, platform_in, printed

from sandbox_runtime.model import File, Job

GOOD = "echo 'echo good' > out"
pytestmark = pytest.mark.attack


@pytest.fixture(autouse=True)
def isolated() -> None:
    skip_where_the_host_lacks("namespaces")


@pytest.mark.parametrize(
    "left",
    [
        "ln -s /etc/passwd link",
        "ln -s out link",
        "ln out other",
        "mkfifo fifo",
        "chmod u+s out",
        "chmod g+s out",
        "touch $'\\xff'",
        "mkdir -p a/b/c",
        "rm make.sh",
        "for n in $(seq 5000); do : > f$n; done",
        "d=.; for n in $(seq 40); do d=$d/d; mkdir $d; done; : > $d/x",
        "truncate -s 1T sparse 2>/dev/null || truncate -s 200M sparse",
        "mv make.sh x; mkdir make.sh; : > make.sh/x",
    ],
)
async def test_a_step_that_leaves_more_than_plain_files_leaves_nothing_to_others(tmp_path: Path, left: str) -> None:
    async with platform_in(tmp_path) as platform:
        for _ in range(2):
            assert await printed(platform, f"{GOOD}; {left}") == "good\n"
    assert entries(tmp_path) == []


@pytest.mark.parametrize("target", ["/workspace/../etc/passwd", "../../escaped", "/state/builds/x", "/var/cache/x"])
async def test_a_step_cannot_write_outside_of_its_box(tmp_path: Path, target: str) -> None:
    async with platform_in(tmp_path) as platform:
        await printed(platform, f"{GOOD}; mkdir -p $(dirname {target}) 2>/dev/null; echo x 2>/dev/null > {target}; true")
    assert not list(tmp_path.rglob("escaped")) and len(entries(tmp_path)) <= 1


async def test_a_step_does_not_see_the_cache(tmp_path: Path) -> None:
    look = f"ls -a {tmp_path} {tmp_path}/state {tmp_path}/state/builds 2>/dev/null | wc -l > seen; echo 'cat seen' > out"
    async with platform_in(tmp_path) as platform:
        await printed(platform, GOOD)
        assert (await printed(platform, look)).strip() == "0"


async def test_a_process_left_behind_changes_nothing_that_is_kept(tmp_path: Path) -> None:
    """It would turn the program into another one a moment after the step has ended."""
    trap = (
        "(trap '' HUP TERM; while :; do echo 'echo bad' > out.tmp; mv out.tmp out; sleep 0.002; echo 'echo good' > out; done) &"
    )
    code = f'{GOOD}; setsid bash -c "{trap}" >/dev/null 2>&1 & sleep 0.1; rm -f out.tmp; {GOOD}; exit 0'
    async with platform_in(tmp_path) as platform:
        told = [await printed(platform, f"{GOOD}; {code}") for _ in range(3)]
        assert told[1] == told[2], "what was kept must be one thing"


async def test_the_run_step_cannot_change_what_its_compile_step_made(tmp_path: Path) -> None:
    code = "echo 'cat word; echo bad > word; echo \"echo bad\" > out; chmod 777 out word' > out; echo good > word"
    async with platform_in(tmp_path) as platform:
        assert [await printed(platform, code) for _ in range(3)] == ["good\n"] * 3


async def test_a_file_of_the_same_content_but_another_name_is_another_build(tmp_path: Path) -> None:
    code = "cat a* > word; ls a* >> word; echo 'cat word' > out"
    async with platform_in(tmp_path) as platform:
        told = []
        for name in ("a1", "a2"):
            result = await platform.engine.run(Job("maker", code, files=(File(name, b"x\n"),)))
            assert result.run is not None
            told.append(result.run.stdout.text)
    assert told == ["x\na1\n", "x\na2\n"]


async def test_what_a_job_brings_under_the_name_of_a_result_is_part_of_its_key(tmp_path: Path) -> None:
    """A binary of one's own in the place of the compiler's result is given to nobody but those who bring the same one."""
    code = "[ -e out ] || echo 'echo good' > out"
    async with platform_in(tmp_path) as platform:
        own = Job("maker", code, files=(File("out", b"echo bad\n"),))
        for _ in range(2):
            result = await platform.engine.run(own)
            assert result.run is not None and result.run.stdout.text == "bad\n"
        assert await printed(platform, code) == "good\n"


async def test_a_step_that_was_stopped_halfway_is_not_kept(tmp_path: Path) -> None:
    async with platform_in(tmp_path) as platform:
        await printed(platform, GOOD)
        limits = platform.request_limits.default.replace(wall_s=0.3)
        code = "echo 'echo half' > out; sleep 30"
        result = await platform.engine.run(Job("maker", code, compile_limits=limits, run_limits=limits))
        assert result.run is None
        running = asyncio.create_task(platform.engine.run(Job("maker", "echo 'echo half' > out; sleep 20")))
        await asyncio.sleep(0.3)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert len(entries(tmp_path)) == 1


async def test_included_files_of_the_machine_cannot_be_planted(tmp_path: Path) -> None:
    """What a program includes from outside of its workspace is the machine's or its own: never another guest's."""
    plant = "echo 'int planted = 1;' > /tmp/planted.h; mkdir -p ~/x; cp /tmp/planted.h ~/x; cp /tmp/planted.h /dev/shm; " + GOOD
    code = '#include "/tmp/planted.h"\n#include "/dev/shm/planted.h"\nint main() { return 0; }'
    async with platform_in(tmp_path) as platform:
        await printed(platform, plant)
        result = await platform.engine.run(Job("cpp", code))
        assert result.compile is not None and not result.compile.ok and result.run is None
