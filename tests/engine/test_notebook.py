"""Notebooks in real kernels, in real boxes."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.engine.notebooks import Runner, errors, file, out, running, shown, skip_where_memory_is_not_counted

from sandbox_runtime.errors import InvalidRequest, TooMany, Unavailable
from sandbox_runtime.model import Ending
from sandbox_runtime.model.notebook import CellEnding, Notebook

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Runner]:
    async with running(tmp_path_factory.mktemp("notebooks")) as opened:
        yield opened


@pytest.mark.requirement("fusion-2.21")
@pytest.mark.requirement("fusion-2.21")
async def test_cells_run_in_order_in_one_kernel(run: Runner) -> None:
    result = await run("x = 20", "def double(n): return 2 * n", "print(double(x)); x + 1", "_ + 1")
    assert (result.complete, result.driver.ending, result.driver.exit_code) == (True, Ending.exited, 0)
    assert [shown(cell) for cell in result.cells] == [[], [], ["21"], ["22"]]
    assert out(result.cells[2]) == "40\n"


@pytest.mark.requirement("fusion-2.20")
@pytest.mark.requirement("fusion-2.20")
async def test_no_notebook_sees_another(run: Runner) -> None:
    first = await run("secret = 1; open('/tmp/left', 'w').write('1'); open('left', 'w').write('1')")
    second = await run("secret", "import os; os.path.exists('/tmp/left'), os.path.exists('left')")
    assert errors(first.cells[0]) == []
    assert errors(second.cells[0]) == ["NameError"] and shown(second.cells[1]) == ["(False, False)"]


@pytest.mark.requirement("fusion-2.22")
@pytest.mark.requirement("fusion-2.22")
async def test_a_cell_that_raises_does_not_stop_the_later_ones(run: Runner) -> None:
    result = await run("def broken():\n    return 1 / 0", "print('a'); broken()", "1 +", "print('b')")
    raised, unreadable = result.cells[1].errors[0], result.cells[2].errors[0]
    assert (raised.name, raised.text) == ("ZeroDivisionError", "division by zero")
    assert any("broken" in line for line in raised.traceback)
    assert unreadable.name == "SyntaxError"
    assert (out(result.cells[1]), out(result.cells[3])) == ("a\n", "b\n")
    assert [cell.ending for cell in result.cells] == [CellEnding.ok, CellEnding.error, CellEnding.error, CellEnding.ok]
    assert result.driver.ok


@pytest.mark.requirement("fusion-2.19")
@pytest.mark.requirement("fusion-2.19")
async def test_what_a_cell_shows_comes_in_order_with_all_its_forms(run: Runner) -> None:
    cell = "from IPython.display import HTML, JSON\ndisplay(1); display(HTML('<b>x</b>')); display(JSON({'a': [1, None]})); 'end'"
    displays = (await run(cell)).cells[0].displays
    assert displays[0] == {"text/plain": "1"}
    assert displays[1]["text/html"] == "<b>x</b>"
    assert displays[2]["application/json"] == {"a": [1, None]}
    assert displays[3] == {"text/plain": "'end'"}


async def test_a_table_is_shown_as_html(run: Runner) -> None:
    cell = (await run("import pandas as pd\npd.DataFrame({'a': [1, 2]})")).cells[0]
    assert errors(cell) == [] and "<table" in cell.displays[0]["text/html"]


async def test_figures_are_shown_as_pictures(run: Runner) -> None:
    result = await run("import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()", "figure = plt.plot([3, 4])", "1")
    for cell in result.cells[:2]:
        picture = base64.b64decode(cell.displays[0]["image/png"])
        assert picture.startswith(b"\x89PNG") and len(picture) > 1000
    assert shown(result.cells[2]) == ["1"]


async def test_both_streams_are_told_apart_whoever_writes_to_them(run: Runner) -> None:
    result = await run(
        "import sys; print('out'); print('err', file=sys.stderr)",
        "import os; n = os.write(1, b'below\\n'); n = os.write(2, b'below too\\n')",
        "!echo from a shell; echo and its complaint >&2",
        "import subprocess; subprocess.run(['echo', 'child'], check=True, capture_output=True, text=True).stdout",
    )
    first, second, third, fourth = result.cells
    assert (out(first), first.stderr.text) == ("out\n", "err\n")
    assert (out(second), second.stderr.text) == ("below\n", "below too\n")
    assert "from a shell" in out(third) and "complaint" in out(third)
    assert shown(fourth) == ["'child\\n'"]
    assert result.driver.stderr.text == ""


async def test_it_is_a_notebook_as_people_know_it(run: Runner) -> None:
    result = await run(
        "import asyncio\nawait asyncio.sleep(0)\n'awaited'",
        "get_ipython().__class__.__name__",
        "%time 1 + 1",
        "%%bash\necho in bash",
        "import sys\n__name__, '' in sys.path, sys.stdin.read()",
        "%history -n",
        "pow?",
    )
    assert shown(result.cells[0]) == ["'awaited'"]
    assert shown(result.cells[1]) == ["'ZMQInteractiveShell'"]
    assert "Wall time" in out(result.cells[2])
    assert out(result.cells[3]) == "in bash\n"
    assert shown(result.cells[4]) == ["('__main__', True, '')"]
    assert "in bash" in out(result.cells[5])
    assert all(errors(cell) == [] for cell in result.cells)


async def test_processes_and_threads_of_cells_work(run: Runner) -> None:
    result = await run(
        "import multiprocessing as mp\ndef square(n): return n * n\nwith mp.Pool(2) as pool: print(pool.map(square, range(5)))",
        "import os\npid = os.fork()\nif pid == 0: os._exit(7)\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])",
        "from concurrent.futures import ThreadPoolExecutor as Pool\nwith Pool(4) as pool: print(sum(pool.map(square, range(5))))",
    )
    assert (out(result.cells[0]), shown(result.cells[1]), out(result.cells[2])) == ("[0, 1, 4, 9, 16]\n", ["7"], "30\n")


@pytest.mark.requirement("fusion-2.24")
async def test_files_come_in_before_the_first_cell_and_go_out_after_the_last(run: Runner) -> None:
    files = (
        file("data/in.txt", "in"),
        file("module.py", "answer = 42"),
        file("inside.py", "mine = True"),
        file("/tmp/far.txt", "far"),
    )
    result = await run(
        "import inside, module; inside.mine, module.answer, open('data/in.txt').read(), open('/tmp/far.txt').read()",
        "n = open('out.bin', 'wb').write(bytes(range(256)))",
        "unclosed = open('unclosed.txt', 'w'); n = unclosed.write('said')",
        files=files,
        fetch=("out.bin", "missing", "unclosed.txt", "/tmp/far.txt"),
    )
    assert shown(result.cells[0]) == ["(True, 42, 'in', 'far')"]
    fetched = {one.name: one.content for one in result.files}
    assert fetched == {"out.bin": bytes(range(256)), "unclosed.txt": b"said", "/tmp/far.txt": b"far"}


async def test_a_question_to_the_reader_is_an_error_and_no_wait(run: Runner) -> None:
    result = await run("input('name?')", "import getpass; getpass.getpass()", "1")
    assert [errors(cell) for cell in result.cells] == [["StdinNotImplementedError"], ["StdinNotImplementedError"], []]


@pytest.mark.requirement("fusion-2.26")
async def test_a_cell_over_its_time_is_interrupted_and_the_next_one_runs(run: Runner) -> None:
    result = await run("x = 1", "import time\ntime.sleep(60)", "await __import__('asyncio').sleep(60)", "x + 1", cell_wall_s=1.0)
    slept, awaited = result.cells[1], result.cells[2]
    assert slept.ending is CellEnding.timed_out and errors(slept) == ["KeyboardInterrupt", "CellTimeoutError"]
    assert awaited.ending is CellEnding.timed_out and errors(awaited)[-1] == "CellTimeoutError"
    assert "cell_timeout" in slept.errors[1].text
    assert shown(result.cells[3]) == ["2"] and result.driver.ok


async def test_a_cell_that_does_not_heed_the_interrupt_goes_with_its_kernel(run: Runner) -> None:
    stubborn = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('deaf', flush=True)\nwhile True: pass"
    result = await run("x = 1", stubborn, "x", cell_wall_s=1.0)
    assert [cell.ending for cell in result.cells] == [CellEnding.ok, CellEnding.killed, CellEnding.not_run]
    assert out(result.cells[1]) == "deaf\n"
    assert "killed" in result.cells[1].errors[-1].text and errors(result.cells[2]) == ["DeadKernelError"]
    assert result.complete and not result.driver.ok


async def test_the_time_of_all_cells_together_is_bounded(run: Runner) -> None:
    result = await run("print('done')", "while True: pass", "3", wall_s=2.0)
    assert (result.complete, result.driver.ending) == (False, Ending.timed_out)
    assert [out(cell) for cell in result.cells] == ["done\n"]


async def test_exit_ends_the_kernel_and_later_cells_say_so(run: Runner) -> None:
    result = await run("print('bye'); exit()", "1")
    assert out(result.cells[0]) == "bye\n" and errors(result.cells[0]) == []
    assert result.cells[1].ending is CellEnding.not_run and errors(result.cells[1]) == ["DeadKernelError"]
    assert result.driver.ok


@pytest.mark.parametrize(
    ("last_act", "told"),
    [("os._exit(5)", "status 5"), ("os.kill(os.getpid(), 9)", "signal 9"), ("import ctypes; ctypes.string_at(0)", "signal 11")],
)
async def test_the_death_of_a_kernel_is_told_as_what_it_was(run: Runner, last_act: str, told: str) -> None:
    result = await run("import os", last_act, "1")
    assert [cell.ending for cell in result.cells] == [CellEnding.ok, CellEnding.died, CellEnding.not_run]
    assert told in result.cells[1].errors[-1].text
    assert (result.driver.ending, result.driver.exit_code) == (Ending.exited, 3)


@pytest.mark.requirement("fusion-2.27")
async def test_the_memory_limit_holds_and_is_told(run: Runner) -> None:
    skip_where_memory_is_not_counted(run.platform)
    result = await run("x = bytearray(50 * 1024**2); len(x)", "y = b'x' * (1024**3)", "1", memory_mib=256)
    assert shown(result.cells[0]) == [str(50 * 1024**2)]
    assert result.cells[1].ending is CellEnding.died and "memory limit" in result.cells[1].errors[-1].text
    assert result.driver.ending is Ending.out_of_memory and result.complete


async def test_too_little_memory_for_a_kernel_is_told_as_that(run: Runner) -> None:
    skip_where_memory_is_not_counted(run.platform)
    result = await run("1", memory_mib=8)
    assert (result.complete, result.cells, result.driver.ending) == (False, (), Ending.out_of_memory)
    assert "before the kernel was up" in result.driver.message


async def test_a_notebook_without_cells_does_nothing(run: Runner) -> None:
    result = await run()
    assert (result.complete, result.cells, result.driver.ok) == (True, (), True)


@pytest.mark.requirement("fusion-2.25")
@pytest.mark.requirement("fusion-2.25")
async def test_there_is_no_network_but_its_own(run: Runner) -> None:
    result = await run(
        "import socket; [name for _, name in socket.if_nameindex()]", "socket.create_connection(('192.0.2.1', 80), 3)"
    )
    assert shown(result.cells[0]) == ["['lo']"] and errors(result.cells[1]) == ["OSError"]


async def test_modules_of_the_preset_are_there_and_figures_still_inline(tmp_path: Path) -> None:
    async with running(tmp_path, preset=("plot",)) as run:
        result = await run(
            "import sys; 'pandas' in sys.modules, 'matplotlib.pyplot' in sys.modules",
            "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()",
        )
    assert shown(result.cells[0]) == ["(True, True)"]
    assert "image/png" in result.cells[1].displays[0]


@pytest.mark.parametrize("isolation", ["none", "bubblewrap"])
async def test_other_backends_run_notebooks_too(tmp_path: Path, isolation: str) -> None:
    skip_where_the_host_lacks(isolation)
    async with running(tmp_path, isolation=isolation) as run:
        result = await run("x = open('in.txt').read()", "x + '!'", files=(file("in.txt", "in"),))
    assert result.complete and shown(result.cells[1]) == ["'in!'"]


async def test_a_guest_without_a_kernel_is_told_as_that(tmp_path: Path) -> None:
    async with running(tmp_path, guest_python="/usr/bin/python3") as run:
        with pytest.raises(Unavailable, match="notebooks do not work here"):
            await run("1")


async def test_kernels_are_kept_up_from_the_first_notebook_on(tmp_path: Path) -> None:
    async with running(tmp_path, notebook_pool_size=2) as run:
        assert run.platform.notebooks.idle == 0
        results = [await run("import os; os.getpid()") for _ in range(4)]
        async with asyncio.timeout(60):
            while run.platform.notebooks.idle < 2:
                await asyncio.sleep(0.05)
    assert all(result.complete and result.driver.ok for result in results)


async def test_a_kernel_that_died_while_it_waited_is_not_given_out(tmp_path: Path) -> None:
    async with running(tmp_path) as run:
        await run("1")
        kernels = run.platform.notebooks._kernels
        kernel = await kernels.take() or await run.platform.notebooks._start(run.platform.notebooks._default_limits)
        await kernel.box.close()
        kernels.idle.appendleft(kernel)
        assert shown((await run("1 + 1")).cells[0]) == ["2"]


async def test_more_than_the_bounds_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path, max_code_bytes=100, max_files=1) as run:
        for request in (("x" * 101,), ("x" * 60, "x" * 60)):
            with pytest.raises(InvalidRequest, match="at most 100"):
                await run(*request)
        with pytest.raises(InvalidRequest, match="2 files"):
            await run("1", files=(file("a", ""), file("b", "")))
        with pytest.raises(InvalidRequest, match="outside"):
            await run("1", fetch=("/etc/passwd",))
    with pytest.raises(InvalidRequest, match="cells"):
        Notebook(("1",) * 10_001)
    with pytest.raises(InvalidRequest, match="time of a cell"):
        Notebook(("1",), cell_wall_s=float("nan"))


async def test_notebooks_wait_for_their_turn_like_programs_do(tmp_path: Path) -> None:
    async with running(tmp_path, max_concurrency=1, queue_size=0) as run:
        entered = await run.platform.admission.enter()
        with pytest.raises(TooMany):
            await run("1")
        run.platform.admission.leave(entered)
        assert (await run("1")).complete
