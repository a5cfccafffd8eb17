"""What hostile cells can do to the program that runs them: spoil their own answer, and nothing else."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.engine.notebooks import Runner, errors, out, running, shown

from sandbox_runtime.model import Blame, Ending
from sandbox_runtime.model.limits import MIB

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.attack]

DRIVER = "import os, signal; driver = os.getppid()\n"
MARK = "left-behind-by-a-notebook"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runner]:
    settings = {"output_limit": 16 * MIB, "output_keep_bytes": 2 * MIB, "memory_ceiling": 1024 * MIB}
    async with running(tmp_path_factory.mktemp("attacks"), **settings) as opened:
        yield opened
        after = await opened("6 * 7")
        assert after.complete and shown(after.cells[0]) == ["42"], "the next notebook is served as ever"


async def test_cells_cannot_reach_the_streams_of_the_driver(run: Runner) -> None:
    """Not through /proc, not as its debugger, not by inheritance."""
    forged = '{"event":"done","cell":2,"how":"ok"}'
    result = await run(
        f"{DRIVER}open(f'/proc/{{driver}}/fd/1', 'w').write({forged!r})",
        f"{DRIVER}os.listdir(f'/proc/{{driver}}/fd')",
        "import os\n[os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd') if int(fd) < 3 and int(fd) != 1]",
        "1 + 1",
    )
    assert [errors(cell) for cell in result.cells[:2]] == [["PermissionError"], ["PermissionError"]]
    assert "/dev/null" in str(shown(result.cells[2])) and shown(result.cells[3]) == ["2"]
    assert result.complete


async def test_a_driver_that_is_killed_is_told_as_that(run: Runner) -> None:
    result = await run("1", f"{DRIVER}os.kill(driver, signal.SIGKILL)\nimport time; time.sleep(60)", "3")
    assert not result.complete and len(result.cells) <= 1
    assert (result.driver.ending, result.driver.signal, result.driver.blame) == (Ending.signaled, 9, Blame.program)


async def test_a_driver_that_is_stopped_ends_with_the_time_of_the_notebook(run: Runner) -> None:
    result = await run(f"{DRIVER}os.kill(driver, signal.SIGSTOP)", wall_s=3.0)
    assert (result.complete, result.driver.ending) == (False, Ending.timed_out)


async def test_a_display_of_a_gigabyte_is_dropped_or_dies_of_its_memory(run: Runner) -> None:
    show = "from IPython.display import display\ndisplay({'text/plain': 'x' * SIZE}, raw=True)"
    large = await run(show.replace("SIZE", str(64 * MIB)), "1")
    assert large.cells[0].displays == () and large.cells[0].dropped_displays == 1 and shown(large.cells[1]) == ["1"]
    huge = await run(show.replace("SIZE", str(1024 * MIB)), "1")
    assert huge.driver.ending in (Ending.out_of_memory, Ending.exited) and huge.driver.blame is not Blame.platform


async def test_a_flood_of_displays_is_kept_within_bounds(run: Runner) -> None:
    flood = "from IPython.display import display\nfor n in range(11_000): display(n)"
    result = await run(flood, "'after'")
    assert result.complete and shown(result.cells[1]) == []  # room for displays is used up; that is told
    assert len(result.cells[0].displays) == 10_000 and result.cells[0].dropped_displays == 1_000
    assert result.cells[1].dropped_displays == 1
    assert [display["text/plain"] for display in result.cells[0].displays] == [str(n) for n in range(10_000)]


async def test_an_endless_flood_of_displays_ends_at_a_limit(run: Runner) -> None:
    flood = "from IPython.display import display\ntext = 'x' * 100_000\nwhile True: display(text)"
    result = await run("1", flood, wall_s=60.0)
    assert (result.complete, result.driver.ending, result.driver.blame) == (False, Ending.output_limit, Blame.limit)


async def test_a_flood_of_text_is_cut_in_the_middle(run: Runner) -> None:
    result = await run("print('begin' + 'x' * 12_000_000 + 'end')", "print('after')")
    text = out(result.cells[0])
    assert text.startswith("begin") and text.endswith("end\n") and "dropped" in text
    assert len(text) < 3 * MIB and out(result.cells[1]) == "after\n"


async def test_an_endless_flood_of_text_ends_at_a_limit(run: Runner) -> None:
    result = await run("while True: print('x' * 10_000)", wall_s=60.0)
    # Which one is reached first depends on how fast the driver gets rid of what the kernel prints.
    assert not result.complete and result.driver.ending in (Ending.output_limit, Ending.out_of_memory)


async def test_a_kernel_that_speaks_nonsense_to_its_driver_harms_itself(run: Runner) -> None:
    """Messages with the right envelope and a wrong content, sent where the driver listens."""
    forge = (
        "thread = get_ipython().kernel.iopub_thread\n"
        "send = lambda *parts: thread.send_multipart([b'<IDS|MSG>', b'', *parts])\n"
        "send(b'{\"msg_type\":\"stream\"}', b'[]', b'{}', b'{}')\n"
        "send(b'not json', b'{}', b'{}', b'{}')\n"
    )
    result = await run("1", forge, "3")
    assert result.driver.blame is Blame.program
    assert shown(result.cells[0]) == ["1"]


async def test_no_notebook_finds_the_kernel_of_another(run: Runner, tmp_path: Path) -> None:
    look = (
        "import glob, os, sys\n"
        "sockets = [line.split()[-1] for line in open('/proc/net/unix').read().splitlines()[1:] if '/' in line.split()[-1]]\n"
        "print(sorted(set(sockets)))\n"
        "print(sum(1 for name in os.listdir('/proc') if name.isdigit()))\n"
        "seen = [name for name in glob.glob('/tmp/*') if not sys.prefix.startswith(name + '/')]\n"  # this checkout may be there
        "print(glob.glob('/run/*'), seen)\n"
    )
    async with running(tmp_path) as other:
        await other("1")  # its kernels are up, beside those of this one
        result = await run(look)
    sockets, processes, folders = out(result.cells[0]).splitlines()
    assert "kernel-1" in sockets and sockets.count("kernel-1") == 1
    assert int(processes) <= 4
    assert folders == "['/run/notebook'] []"


async def test_nothing_that_a_notebook_started_outlives_it(run: Runner) -> None:
    start = (
        "import os, subprocess, sys\n"
        f"code = 'import os, time; os.setsid(); time.sleep(600) # {MARK}'\n"
        "children = [subprocess.Popen([sys.executable, '-c', code], start_new_session=True) for _ in range(3)]\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        import time; time.sleep(600)\n    os._exit(0)\n"
    )
    result = await run(start, "len(children)")
    assert result.complete and shown(result.cells[1]) == ["3"]
    assert not _on_this_machine(MARK)


async def test_a_fork_bomb_in_a_cell_ends_with_the_notebook(run: Runner) -> None:
    bomb = "import os, time\nend = time.time() + 1\nwhile time.time() < end:\n    try: os.fork()\n    except OSError: pass"
    result = await run(bomb, wall_s=20.0)
    assert result.driver.blame is not Blame.platform


async def test_halves_of_characters_and_endless_numbers_come_out_as_json(run: Runner) -> None:
    cell = (
        "from IPython.display import display\nprint('a\\ud800b')\n"
        "display({'application/json': {'x': float('nan'), 'y': '\\udfff'}, 'text/plain': '\\ud800'}, raw=True)"
    )
    result = await run(cell)
    out(result.cells[0]).encode()
    assert result.complete


def _on_this_machine(mark: str) -> bool:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if mark in Path(f"/proc/{pid}/cmdline").read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False
