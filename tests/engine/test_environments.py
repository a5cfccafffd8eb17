"""Programs of all kinds on files that stay, in real boxes."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.engine.environments import LIMITS, a_home, a_platform, run, work

from sandbox_runtime.assembly import Platform
from sandbox_runtime.engine.environments import Environment
from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound
from sandbox_runtime.isolation.kernel.reaper import descendants
from sandbox_runtime.model import Ending, ExecutionKind
from sandbox_runtime.model.limits import MIB

pytestmark = pytest.mark.asyncio(loop_scope="module")
COMMAND = ExecutionKind.command


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    async with a_platform(str(tmp_path_factory.mktemp("state"))) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def home(platform: Platform) -> AsyncIterator[Environment]:
    async with a_home(platform.environments) as opened:
        yield opened


async def said(home: Environment, code: str, **more: object) -> str:
    outcome = (await run(home, work(code, **more))).outcome  # type: ignore[arg-type]
    return outcome.stdout.text + outcome.stderr.text


async def listed(home: Environment) -> list[str]:
    return (await said(home, "ls -A", kind=COMMAND)).split()


async def test_what_a_program_writes_the_next_one_finds_and_nothing_of_the_program_stays(home: Environment) -> None:
    await said(home, "open('note', 'w').write('kept')\nopen('own.py', 'w').write('value = 5')")
    assert await said(home, "import own\nprint(open('note').read(), own.value)") == "kept 5\n"
    assert set(await listed(home)) - {"__pycache__"} == {"note", "own.py"}


async def test_a_program_finds_nothing_of_what_was_rehearsed_before_it(home: Environment) -> None:
    await said(home, "pass")  # so that the next one has a box that waited
    code = (
        "import linecache, os, sys\n"
        "print(sys.path[0], len(sys.argv), sorted(vars(sys.modules['__main__']))[-3:])\n"
        "print([name for name in (*linecache.cache, *sys.path, *sys.modules) if 'practice' in name])\n"
        "print([fd for fd in map(int, os.listdir('/proc/self/fd')) if fd > 2 and os.path.exists(f'/proc/self/fd/{fd}')])\n"
    )
    assert await said(home, code) == "/workspace 1 ['linecache', 'os', 'sys']\n[]\n[]\n"


async def test_languages_share_the_files(home: Environment) -> None:
    await said(home, "echo shell > note", language="bash")
    assert await said(home, "print(open('note').read(), end='')") == "shell\n"


async def test_a_program_is_kept_where_it_was_given_a_name(home: Environment) -> None:
    assert await said(home, "import sys\nprint(sys.argv)", filename="tools/show", args=("a", "b")) == (
        "['tools/show.py', 'a', 'b']\n"
    )
    assert await said(home, "cat tools/show.py", kind=COMMAND) == "import sys\nprint(sys.argv)"


async def test_a_compiled_program_leaves_only_what_it_wrote(home: Environment) -> None:
    await said(home, "echo 42 > input", kind=COMMAND)
    code = (
        '#include <stdio.h>\nint main(){int n; FILE*f=fopen("input","r"); fscanf(f,"%d",&n); fopen("out","w"); printf("%d",n);}'
    )
    ran = await run(home, work(code, language="c"))
    if ran.outcome.ending is Ending.not_started:
        pytest.skip("there is no C compiler here")
    assert (ran.outcome.stdout.text, ran.compile is not None and ran.compile.ok) == ("42", True)
    assert await listed(home) == ["input", "out"]


async def test_what_does_not_compile_is_told_and_leaves_nothing(home: Environment) -> None:
    ran = await run(home, work("int main( {", language="c"))
    assert not ran.outcome.ok and "error" in ran.outcome.stderr.text
    assert await listed(home) == []


async def test_a_file_of_the_user_is_not_replaced_by_a_program_that_needs_its_name(home: Environment) -> None:
    name = (await _source_of_c(home)) or "main.c"
    await said(home, f"echo mine > {name}", kind=COMMAND)
    with pytest.raises(Conflict, match="rename it"):
        await run(home, work("int main(){}", language="c"))
    assert await said(home, f"cat {name}", kind=COMMAND) == "mine\n"


async def _source_of_c(home: Environment) -> str:
    return home._planner.catalog.find("c").source


async def test_a_command_is_a_line_for_the_shell_or_a_program_with_arguments(home: Environment) -> None:
    assert await said(home, "echo $((6 * 7)) | cat; echo $NAME", kind=COMMAND, env={"NAME": "box"}) == "42\nbox\n"
    assert await said(home, "printf", kind=COMMAND, args=("%s|", "a b", "$HOME")) == "a b|$HOME|"
    assert await said(home, "cat", kind=COMMAND, stdin=b"given") == "given"


async def test_limits_are_those_of_one_work_and_the_next_is_not_touched_by_its_end(home: Environment) -> None:
    endless = await run(home, work("while True: pass", limits=LIMITS.replace(wall_s=0.3)))
    assert endless.outcome.ending is Ending.timed_out
    greedy = await run(home, work("x = bytearray(900_000_000)\nx[::4096] = b'1' * len(x[::4096])"))
    assert greedy.outcome.ending is Ending.out_of_memory or "MemoryError" in greedy.outcome.stderr.text
    assert await said(home, "print('fine')") == "fine\n"


async def test_what_a_work_leaves_running_ends_with_it(home: Environment) -> None:
    before = set(descendants(os.getpid()))
    await said(home, "nohup sleep 987 >/dev/null 2>&1 & disown; echo started", kind=COMMAND)
    names = [_title(pid) for pid in set(descendants(os.getpid())) - before]
    assert not any("sleep" in name for name in names)


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


async def test_the_size_of_a_home_bounds_everything_in_it(platform: Platform) -> None:
    async with a_home(platform.environments, disk_bytes=MIB) as small:
        assert "No space left" in await said(small, "head -c 2000000 /dev/zero > big", kind=COMMAND)
        assert small.files.usage()[0] <= MIB


async def test_two_homes_see_nothing_of_each_other(platform: Platform, home: Environment) -> None:
    mark = secrets.token_hex(16)
    await said(home, f"echo {mark} > note; echo {mark} > ~/note; echo {mark} > /tmp/note", kind=COMMAND)
    # What the machine shows to every box may lie below these folders as well.
    look = f"find . /tmp /home /run -xdev -type f -exec grep -s {mark} {{}} +; cat note ~/note /tmp/note; echo looked"
    async with a_home(platform.environments) as other:
        seen = await said(other, look, kind=COMMAND)
    assert mark not in seen and "looked\n" in seen


async def test_a_caller_that_goes_away_leaves_no_program_behind(home: Environment) -> None:
    running = asyncio.create_task(run(home, work("import time\ntime.sleep(60)")))
    await asyncio.sleep(0.2)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await listed(home) == []


async def test_an_unknown_language_is_named(home: Environment) -> None:
    with pytest.raises((NotFound, InvalidRequest), match="klingon"):
        await run(home, work("x", language="klingon"))


async def test_closing_a_home_ends_what_runs_in_it_and_leaves_nothing(platform: Platform) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    home = await Environment.open(platform.environments, MIB, 1000)
    running = asyncio.create_task(run(home, work("import time\ntime.sleep(60)")))
    await asyncio.sleep(0.2)
    await home.close()
    await home.close()
    ran = (await asyncio.gather(running, return_exceptions=True))[0]
    assert isinstance(ran, Exception) or not ran.outcome.ok  # type: ignore[union-attr]
    async with asyncio.timeout(30):  # mounts are taken apart behind the answer
        while len(os.listdir("/proc/self/fd")) > descriptors:
            await asyncio.sleep(0.01)


async def test_odd_names_that_come_up_while_something_is_compiled_do_no_harm(home: Environment) -> None:
    """As a compiler that runs code of the program could leave them."""
    shop = home._planner
    row = shop.catalog.find("c")
    assert row.compile is not None
    odd = (
        "printf x > $(printf 'bad\\377name'); mkdir -p 'new\nline'; "
        + " ".join(row.compile.argv[:1])
        + ' --version > /dev/null; "$@"'
    )
    coordinator = dataclasses.replace(row.compile, argv=("/bin/bash", "-c", odd, "sh", *row.compile.argv))
    catalog = shop.catalog
    changed = dataclasses.replace(row, compile=coordinator)
    home._planner = dataclasses.replace(shop, catalog=_Instead(catalog, changed))  # type: ignore[arg-type]
    try:
        ran = await run(home, work('#include <stdio.h>\nint main(){puts("fine");}', language="c"))
        assert ran.outcome.stdout.text == "fine\n", ran.outcome.stderr.text
        left = (await run(home, work("import os\nprint(len(os.listdir('.')))"))).outcome.stdout.text
        assert left == "3\n"  # the two odd ones, and the program that looks
    finally:
        home._planner = shop


class _Instead:
    """A catalog with one language replaced."""

    def __init__(self, catalog: Any, language: Any) -> None:
        self._catalog = catalog
        self._language = language

    def find(self, name: str) -> Any:
        found = self._catalog.find(name)
        return self._language if found.name == self._language.name else found
