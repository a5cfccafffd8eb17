"""Programs in an interpreter that was started before they came: they cannot tell, and nothing is left of what stood in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.conftest import OUT_OF_MEMORY, skip_where_memory_is_not_counted, skip_where_the_host_lacks

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.isolation.kernel.reaper import descendants
from sandbox_runtime.model import Ending, File, Job, JobResult, Limits
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    skip_where_the_host_lacks("namespaces")
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")), log_level="error", check_languages=False)
    async with open_platform(settings) as opened:
        (proof,) = await opened.engine.languages(["nodejs"])
        if not proof.enabled:
            pytest.skip(f"there is no JavaScript here: {proof.reason}")
        yield opened


def limits(platform: Platform, **changes: float | None) -> Limits:
    request_limits = platform.request_limits
    return request_limits.default.replace(**{"memory_bytes": request_limits.max_memory_bytes, "wall_s": 20.0, **changes})


async def run(platform: Platform, code: str, stdin: bytes | None = None, **changes: object) -> JobResult:
    """In one that was started ahead: the one before made sure that another is on its way."""
    held = changes.pop("held", limits(platform))
    assert isinstance(held, Limits)
    return await platform.engine.run(Job("nodejs", code, stdin, run_limits=held, compile_limits=held, **changes))  # type: ignore[arg-type]


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def one_stands_ready(platform: Platform) -> None:
    await run(platform, "0")
    for _ in range(500):
        if any(b"ahead.js" in cmdline(pid) for pid in descendants(os.getpid())):
            return
        await asyncio.sleep(0.02)
    pytest.fail("nothing was started ahead")


def cmdline(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


async def test_a_program_finds_itself_as_if_it_had_been_started(platform: Platform) -> None:
    code = """
const fs = require('fs');
console.log(JSON.stringify({argv: process.argv.slice(1), main: require.main === module, file: __filename, id: module.id,
  cwd: process.cwd(), cache: Object.keys(require.cache), exec: process.execArgv, tty: process.stdout.isTTY === undefined}));
"""
    result = await run(platform, code)
    assert result.run is not None
    assert result.run.stdout.text == (
        '{"argv":["/workspace/main.js"],"main":true,"file":"/workspace/main.js","id":".","cwd":"/workspace",'
        '"cache":["/workspace/main.js"],"exec":[],"tty":true}\n'
    )


@pytest.mark.parametrize(
    ("code", "stdin", "stdout"),
    [
        ("console.log(require('fs').readFileSync(0, 'utf8'))", b"whole", "whole\n"),
        ("console.log(require('fs').readFileSync('/dev/stdin', 'utf8'))", b"named", "named\n"),
        ("process.stdin.on('data', d => console.log(`got ${d}`)).on('end', () => console.log('end'))", b"abc", "got abc\nend\n"),
        ("process.stdin.on('end', () => console.log('end')).resume()", None, "end\n"),
        ("setTimeout(() => console.log('later'), 20)", None, "later\n"),
        ("console.log(require('./own').value)", None, "5\n"),
    ],
)
async def test_input_timers_and_modules_work(platform: Platform, code: str, stdin: bytes | None, stdout: str) -> None:
    result = await run(platform, code, stdin, files=(File("own.js", b"exports.value = 5"),))
    assert result.run is not None and result.run.stdout.text == stdout, result.run


@pytest.mark.parametrize(
    ("code", "ending", "code_or_signal", "told"),
    [
        ("process.exit(7)", Ending.exited, 7, ""),
        ("throw new Error('mine')", Ending.exited, 1, "Error: mine"),
        ("this is no program", Ending.exited, 1, "SyntaxError"),
        ("Promise.reject(new Error('late'))", Ending.exited, 1, "Error: late"),
        ("process.kill(process.pid, 'SIGSEGV')", Ending.signaled, 11, ""),
    ],
)
async def test_ends_are_told_as_ever_and_no_stand_in_is_seen(
    platform: Platform, code: str, ending: Ending, code_or_signal: int, told: str
) -> None:
    outcome = (await run(platform, code)).run
    assert outcome is not None and outcome.ending is ending
    assert code_or_signal in (outcome.exit_code, outcome.signal)
    assert told in outcome.stderr.text and "ahead" not in outcome.stderr.text


async def test_time_counts_from_when_the_program_came(platform: Platform) -> None:
    await asyncio.sleep(0.6)
    outcome = (await run(platform, "while (true);", held=limits(platform, wall_s=0.5))).run
    assert outcome is not None and outcome.ending is Ending.timed_out and outcome.usage.wall_s >= 0.5


async def test_the_memory_limit_of_the_job_holds(platform: Platform) -> None:
    skip_where_memory_is_not_counted(OUT_OF_MEMORY)
    code = "const held = []; for (;;) held.push(new Array(1e6).fill(1));"
    outcome = (await run(platform, code, held=limits(platform, memory_bytes=200 * MIB))).run
    assert outcome is not None and outcome.ending is Ending.out_of_memory


async def test_other_limits_get_a_box_in_which_nothing_was_started(platform: Platform) -> None:
    outcome = (await run(platform, "console.log(1)", held=limits(platform, processes=64))).run
    assert outcome is not None and outcome.stdout.text == "1\n"


async def test_one_that_died_while_it_waited_is_not_used(platform: Platform) -> None:
    for pid in descendants(os.getpid()):
        if b"ahead.js" in cmdline(pid):
            os.kill(pid, 9)
    outcome = (await run(platform, "console.log('lives')")).run
    assert outcome is not None and outcome.stdout.text == "lives\n"


async def test_two_at_once_share_nothing(platform: Platform) -> None:
    count = "globalThis.seen = (globalThis.seen || 0) + 1; require('fs').appendFileSync('/tmp/mark', 'x');"
    code = f"{count} console.log(seen, require('fs').readFileSync('/tmp/mark', 'utf8'))"
    results = await asyncio.gather(*(run(platform, code) for _ in range(4)))
    assert [result.run.stdout.text for result in results if result.run] == ["1 x\n"] * 4
