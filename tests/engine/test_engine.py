"""A job in, a result out, and no box left."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from tests.engine.faulty import FaultyBackend, kill
from tests.isolation.box_helpers import RecordingSink
from tests.isolation.leftovers import spawners_of
from tests.languages.language_file import GOOD

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.engine.run.box_run import with_minimums
from sandbox_runtime.errors import InvalidRequest, NotFound, PlatformFault, Unavailable
from sandbox_runtime.languages.reader import read_language
from sandbox_runtime.model import Blame, Ending, File, Job, Limits
from sandbox_runtime.settings import Settings

Own = Callable[[str], AbstractAsyncContextManager[Platform]]


@pytest.fixture
def own_language(tmp_path: Path, settings: Settings) -> Own:
    def opened(text: str) -> AbstractAsyncContextManager[Platform]:
        folder = tmp_path / "languages"
        folder.mkdir()
        (folder / "awk.toml").write_text(text)
        return open_platform(dataclasses.replace(settings, languages_dir=str(folder)), prewarm=False)

    return opened


async def warm(platform: Platform) -> None:
    """Have python and bash proven, so that the next box is that of the job."""
    for language in ("python", "bash"):
        await platform.engine.run(Job(language, ""))


def runs(platform: Platform) -> list[str]:
    """The lines that count what ran."""
    return [line for line in platform.metrics.exposition().decode().splitlines() if line.startswith("sandbox_runs_total")]


CPP = '#include <cstdio>\nint main() { int a, b; std::scanf("%d %d", &a, &b); std::printf("%d", a + b); }'


async def test_python_reads_its_input_and_prints(platform: Platform) -> None:
    result = await platform.engine.run(Job("python", "print(input()[::-1])", b"abc"))
    assert result.compile is None and result.run is not None
    assert (result.run.ok, bytes(result.run.stdout)) == (True, b"cba\n")


async def test_a_program_without_input_meets_the_end_of_it(platform: Platform) -> None:
    result = await platform.engine.run(Job("python", "import sys; print(repr(sys.stdin.read()))"))
    assert result.run is not None and bytes(result.run.stdout) == b"''\n"


async def test_bash_runs(platform: Platform) -> None:
    result = await platform.engine.run(Job("bash", "echo $((6 * 7)); exit 3"))
    assert result.run is not None
    assert (bytes(result.run.stdout), result.run.exit_code) == (b"42\n", 3)


async def test_cpp_is_compiled_and_run(platform: Platform) -> None:
    result = await platform.engine.run(Job("cpp", CPP, b"20 22"))
    assert result.compile is not None and result.compile.ok
    assert result.run is not None and bytes(result.run.stdout) == b"42"


async def test_cpp_links_with_the_libraries_of_this_host(platform: Platform, backend: FaultyBackend) -> None:
    proofs = {proof.language: proof for proof in await platform.engine.languages(["cpp"])}
    assert proofs["cpp"].enabled and "-lpthread" in proofs["cpp"].link_flags


@pytest.mark.parametrize(("language", "told"), [("python", "Python 3."), ("bash", "GNU bash"), ("cpp", "g++")])
async def test_a_toolchain_tells_its_version(platform: Platform, backend: FaultyBackend, language: str, told: str) -> None:
    assert (await platform.engine.version(language)).startswith(told)
    assert not backend.open_boxes


async def test_what_does_not_compile_is_not_run_but_files_are_fetched(platform: Platform) -> None:
    job = Job("cpp", "int main( {", files=(File("note", b"here"),), fetch=("note", "test"))
    result = await platform.engine.run(job)
    assert result.compile is not None and not result.compile.ok and result.run is None
    assert result.files == (File("note", b"here"),)


async def test_files_go_in_and_come_out(platform: Platform) -> None:
    code = "import os; open('out/x', 'w').write(open('in/a').read().upper())"
    job = Job("python", code, files=(File("in/a", b"abc"), File("out/keep", b"")), fetch=("out/x", "missing"))
    assert (await platform.engine.run(job)).files == (File("out/x", b"ABC"),)


async def test_a_program_that_takes_too_long_is_stopped(platform: Platform) -> None:
    limits = platform.request_limits.default.replace(wall_s=0.2)
    result = await platform.engine.run(Job("python", "while True: pass", run_limits=limits))
    assert result.run is not None and result.run.ending is Ending.timed_out


async def test_output_is_passed_on_while_it_is_also_kept(platform: Platform) -> None:
    pieces: list[tuple[str, bytes]] = []
    result = await platform.engine.run(Job("python", "print(1)"), sink=lambda stream, piece: pieces.append((stream, piece)))
    assert b"".join(piece for stream, piece in pieces if stream == "stdout") == b"1\n"
    assert result.run is not None and bytes(result.run.stdout) == b"1\n"


OUT_OF_BOUNDS = (
    Job("python", "x" * 1001),
    Job("python", "é" * 501),
    Job("python", "x", b"x" * 1001),
    Job("python", "x", files=(File("a", b"x" * 1001),)),
    Job("python", "x", files=tuple(File(f"f{n}", b"") for n in range(257))),
    Job("python", "x", fetch=tuple(f"f{n}" for n in range(257))),
    Job("python", "x", fetch=("/etc/passwd",)),
    Job("python", "x", fetch=("../x",)),
    Job("python", "x", files=(File("/etc/passwd", b""),)),
    Job("python", "x", run_limits=Limits(wall_s=4000)),
    Job("python", "x", run_limits=Limits(memory_bytes=2**39)),
    Job("python", "x", run_limits=Limits(memory_bytes=None)),
    Job("python", "x", run_limits=Limits(disk_bytes=2**40)),
    Job("python", "x", compile_limits=Limits(processes=1000)),
)


async def test_a_job_out_of_bounds_is_refused_and_starts_nothing(platform: Platform, backend: FaultyBackend) -> None:
    await warm(platform)
    before = runs(platform)
    for job in OUT_OF_BOUNDS:
        with pytest.raises(InvalidRequest):
            await platform.engine.run(job)
        assert runs(platform) == before and not backend.open_boxes, job


async def test_files_that_do_not_fit_on_the_disk_of_the_box_are_refused(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path), disk_limit=256 * 1024, check_languages=False, log_level="error")
    async with open_platform(settings, prewarm=False) as platform:
        with pytest.raises(InvalidRequest, match="disk limit"):
            limits = platform.request_limits.default
            job = Job("python", "", files=(File("large", bytes(1024 * 1024)),), run_limits=limits, compile_limits=limits)
            await platform.engine.run(job)


async def test_toolchains_that_are_installed_while_the_server_runs_are_seen(tmp_path: Path) -> None:
    """The folder is not even there when the server starts."""
    folder, rows = tmp_path / "toolchains", tmp_path / "languages"
    rows.mkdir()
    (rows / "awk.toml").write_text(
        GOOD.replace('argv = ["awk"', 'argv = ["{toolchains}/awk/awk"').replace('stdout = "x"', 'stdout = "x\\n"')
    )
    settings = Settings(
        state_dir=str(tmp_path / "state"),
        toolchains_dir=str(folder),
        languages_dir=str(rows),
        check_languages=False,
        log_level="error",
    )
    async with open_platform(settings, prewarm=False) as platform:
        (folder / "awk").mkdir(parents=True)
        (folder / "awk/awk").write_text('#!/bin/bash\nexec awk "$@"\n')
        (folder / "awk/awk").chmod(0o755)
        result = await platform.engine.run(Job("awk", "{ print $2 }", b"a b\n"))
    assert result.run is not None and bytes(result.run.stdout) == b"b\n"


async def test_an_unknown_language_is_not_found(platform: Platform) -> None:
    with pytest.raises(NotFound, match="brainfold"):
        await platform.engine.run(Job("brainfold", "x"))


async def test_the_box_is_closed_before_the_result_is_given(platform: Platform, backend: FaultyBackend) -> None:
    for code in ("print(1)", "raise SystemExit(2)", "import os; os.abort()"):
        await platform.engine.run(Job("python", code))
        assert not backend.open_boxes


async def test_every_run_has_a_box_of_its_own(platform: Platform, backend: FaultyBackend) -> None:
    await platform.engine.run(Job("python", "open('left', 'w').write('x')"))
    result = await platform.engine.run(Job("python", "import os; print(os.path.exists('left'))"))
    assert result.run is not None and bytes(result.run.stdout) == b"False\n"


async def test_a_cancelled_caller_leaves_no_box(platform: Platform, backend: FaultyBackend) -> None:
    await warm(platform)
    running = asyncio.create_task(platform.engine.run(Job("bash", "sleep 30")))
    while not backend.open_boxes:
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await platform.pool.close()
    assert not backend.open_boxes and platform.admission.busy == 0


@pytest.mark.parametrize("settings", ["none"], indirect=True)
async def test_a_box_that_died_before_its_run_is_replaced(platform: Platform, backend: FaultyBackend) -> None:
    await warm(platform)
    backend.kill_next = 1
    result = await platform.engine.run(Job("python", "print(1)"))
    assert result.run is not None and (result.run.ok or result.run.blame is Blame.platform)
    assert not backend.open_boxes


@pytest.mark.parametrize("settings", ["none"], indirect=True)
async def test_a_box_that_dies_during_its_run_is_blamed_on_the_platform(platform: Platform, backend: FaultyBackend) -> None:
    await warm(platform)
    seen = RecordingSink()
    running = asyncio.create_task(platform.engine.run(Job("bash", "echo begun; sleep 30"), sink=seen))
    await seen.until(b"begun")
    kill(backend.open_boxes[0])
    result = await running
    assert result.run is not None and result.run.blame is Blame.platform
    assert not backend.open_boxes
    after = await platform.engine.run(Job("python", "print(1)"))
    assert after.run is not None and after.run.ok


async def test_boxes_that_waited_ready_when_the_spawner_died_cost_nobody_a_run(tmp_path: Path) -> None:
    async with open_platform(
        Settings(state_dir=str(tmp_path), pool_size=3, check_languages=False, log_level="error")
    ) as platform:
        await platform.engine.languages(["python"])
        while platform.pool.idle < 3:
            await asyncio.sleep(0.01)
        for spawner in spawners_of(platform.backend):
            os.kill(spawner, signal.SIGKILL)
        results = await asyncio.gather(*(platform.engine.run(Job("python", "print(1)")) for _ in range(4)))
    assert [result.run is not None and result.run.ok for result in results] == [True] * 4


async def test_a_platform_that_cannot_open_boxes_says_so(platform: Platform, backend: FaultyBackend) -> None:
    await warm(platform)
    backend.failing = True
    with pytest.raises(PlatformFault, match="no boxes today"):
        await platform.engine.run(Job("python", "print(1)"))
    assert platform.admission.busy == 0


async def test_what_runs_is_counted_by_language_ending_and_blame(platform: Platform) -> None:
    await platform.engine.languages(["python"], fresh=True)
    await platform.engine.run(Job("python", "print(1)"))
    text = platform.metrics.exposition().decode()
    assert 'sandbox_runs_total{blame="program",ending="exited",language="python",step="run"} 2.0' in text


async def test_an_operators_language_runs(own_language: Own) -> None:
    async with own_language(GOOD.replace('stdout = "x"', 'stdout = "x\\n"')) as platform:
        result = await platform.engine.run(Job("gawk", '{ print $2; print ENVIRON["LC_ALL"] }', b"a b\n"))
    assert result.run is not None and bytes(result.run.stdout) == b"b\nC\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('argv = ["awk", "-f"', 'argv = ["no-such-awk", "-f"', "no-such-awk"),
        ('code = "{ print }"', 'code = "BEGIN { exit 3 }"', "exited"),
        ('code = "{ print }"', 'code = "{ print 1 }"', "printed something else"),
    ],
)
async def test_a_language_whose_check_fails_is_unavailable_with_the_reason(
    own_language: Own, old: str, new: str, told: str
) -> None:
    async with own_language(GOOD.replace(old, new)) as platform:
        with pytest.raises(Unavailable, match=f"AWK .*does not work on this host: .*{told}.* It needs awk"):
            await platform.engine.run(Job("awk", "{ print }", b"x"))


def test_limits_too_small_for_the_toolchain_are_lifted_and_none_is_lowered() -> None:
    recipe = read_language(GOOD, "awk.toml").run
    assert with_minimums(Limits(processes=1), recipe).processes == 32
    assert with_minimums(Limits(processes=99), recipe).processes == 99
