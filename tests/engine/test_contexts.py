"""Interpreters that keep their state, in real boxes."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import RecordingSink

from sandbox_runtime.engine.contexts import MODULES, Context, copy, injected_modules
from sandbox_runtime.errors import Conflict
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.options import STANDARD_MODULES, BackendOptions, Preset
from sandbox_runtime.isolation.port import Backend, Files
from sandbox_runtime.model import Limits, Policy
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.model.notebook import CellEnding, CellResult

pytestmark = pytest.mark.asyncio(loop_scope="module")
LIMITS = Limits(memory_bytes=1024 * MIB)
PRESET = "context"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backend(options: BackendOptions) -> AsyncIterator[Backend]:
    skip_where_the_host_lacks("namespaces")
    if not list(Path(options.guest_python).parent.parent.glob("lib/python*/site-packages/IPython")):
        pytest.skip("the guest interpreter has no IPython: make setup")
    preset = Preset((*STANDARD_MODULES, *MODULES), injected=injected_modules(), copyable=True)
    async with open_backend("namespaces", dataclasses.replace(options, presets={PRESET: preset})) as opened:
        yield opened


@asynccontextmanager
async def live(backend: Backend, python: str, files: Files | None = None, limits: Limits = LIMITS) -> AsyncIterator[Context]:
    box = await backend.open(Policy(preset=PRESET, single_use=True), files)
    context = Context(box, limits, MIB)
    try:
        await context.start(python)
        yield context
    finally:
        await context.close()
        await box.close()


@pytest_asyncio.fixture(loop_scope="module")
async def context(backend: Backend, guest_python: str) -> AsyncIterator[Context]:
    async with live(backend, guest_python) as one:
        yield one


async def run(context: Context, code: str, wall_s: float = 30.0) -> CellResult:
    return await context.execute(code, wall_s=wall_s)


async def shown(context: Context, code: str) -> str:
    """The plain form of what the cell's last line is worth."""
    result = await run(context, code)
    assert result.ending is CellEnding.ok, result.errors
    return str(result.displays[-1]["text/plain"])


async def test_variables_imports_and_functions_stay_from_one_execution_to_the_next(context: Context) -> None:
    await run(context, "import math\nseen = [1]\ndef double(n):\n    return 2 * n")
    assert await shown(context, "seen.append(double(math.floor(2.5)))\nseen") == "[1, 4]"
    assert await shown(context, "_") == "[1, 4]"


async def test_output_belongs_to_the_execution_that_printed_it(context: Context) -> None:
    for number in range(20):
        script = (
            f"import os, sys\nprint('out', {number})\nprint('err', {number}, file=sys.stderr)\nos.system('echo shell {number}')"
        )
        result = await run(context, script + "\nNone")
        assert sorted(result.stdout.text.splitlines()) == [f"out {number}", f"shell {number}"]
        assert result.stderr.text == f"err {number}\n"


async def test_output_can_be_followed_while_a_cell_runs(context: Context) -> None:
    seen: list[bytes] = []
    first = asyncio.Event()

    def sink(_name: str, piece: bytes) -> None:
        seen.append(piece)
        first.set()

    running = asyncio.create_task(context.execute("print('one', flush=True)\nimport time\ntime.sleep(60)", wall_s=60, sink=sink))
    await asyncio.wait_for(first.wait(), 30)
    assert seen == [b"one\n"] and not running.done()
    context.interrupt()
    assert (await running).errors[0].name == "KeyboardInterrupt"


async def test_an_exception_is_told_with_its_traceback_and_the_state_stays(context: Context) -> None:
    result = await run(context, "kept = 7\nkept / 0")
    assert result.ending is CellEnding.error
    assert (result.errors[0].name, result.errors[0].text) == ("ZeroDivisionError", "division by zero")
    assert "kept / 0" in result.stderr.text
    assert await shown(context, "kept") == "7"
    assert (await run(context, "def broken(:")).errors[0].name == "SyntaxError"


async def test_awaiting_at_the_top_works(context: Context) -> None:
    assert await shown(context, "import asyncio\nawait asyncio.sleep(0.01, 'slept')") == "'slept'"


async def test_rich_results_come_in_all_their_forms(context: Context) -> None:
    page = "class Page:\n    def _repr_html_(self):\n        return '<b>page</b>'\n"
    code = f"{page}from IPython.display import display\ndisplay(Page())\nPage()"
    result = await run(context, code)
    assert [display["text/html"] for display in result.displays] == ["<b>page</b>"] * 2


@pytest.mark.parametrize("magic", ["", "%matplotlib inline\n"])
async def test_a_plot_is_shown_as_an_image(context: Context, guest_python: str, magic: str) -> None:
    if not list(Path(guest_python).parent.parent.glob("lib/python*/site-packages/matplotlib")):
        pytest.skip("the guest interpreter has no matplotlib: make setup")
    result = await run(context, magic + "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert result.displays[-1]["image/png"].startswith("iVBOR")


async def test_a_cell_over_its_time_is_interrupted_and_the_state_stays(context: Context) -> None:
    await run(context, "kept = 'here'")
    result = await run(context, "import time\ntime.sleep(60)", wall_s=0.2)
    assert result.ending is CellEnding.timed_out
    assert [error.name for error in result.errors] == ["KeyboardInterrupt", "CellTimeoutError"]
    assert await shown(context, "kept") == "'here'"


async def test_a_cell_that_does_not_heed_the_interrupt_goes_with_its_interpreter(context: Context) -> None:
    code = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    result = await run(context, code, wall_s=0.2)
    assert result.ending is CellEnding.killed and not context.alive
    assert (await run(context, "1")).ending is CellEnding.not_run


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("import os\nos._exit(5)", "status 5"),
        ("import os\nos.kill(os.getpid(), 9)", "signal 9"),
        ("import ctypes\nctypes.string_at(0)", "signal 11"),
    ],
)
async def test_an_interpreter_that_dies_is_told_with_the_cause(context: Context, code: str, cause: str) -> None:
    result = await run(context, code)
    assert result.ending is CellEnding.died and cause in result.errors[0].text


async def test_running_out_of_memory_is_told_as_that(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python, limits=Limits(memory_bytes=128 * MIB)) as context:
        result = await run(context, "held = bytearray(1024**3)\nheld[::4096] = b'x' * len(held[::4096])")
        told = " ".join(error.text for error in result.errors)
        assert (result.ending is CellEnding.died and "memory limit" in told) or "MemoryError" in result.errors[0].name


async def test_one_cell_at_a_time(context: Context) -> None:
    seen = RecordingSink()
    code = "print('begun', flush=True)\nimport time\ntime.sleep(60)"
    running = asyncio.create_task(context.execute(code, wall_s=60, sink=seen))
    await seen.until(b"begun")
    with pytest.raises(Conflict, match="interrupt"):
        await run(context, "1")
    context.interrupt()
    await running


async def test_a_flood_is_cut_and_the_context_lives_on(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python, limits=LIMITS.replace(output_bytes=4 * MIB)) as context:
        result = await run(context, "while True: print('x' * 10000)")
        assert [error.name for error in result.errors] == ["OutputLimitError", "KeyboardInterrupt"]
        assert result.stdout.dropped_bytes > 0
        assert await shown(context, "1 + 1") == "2"


async def test_reading_input_fails_at_once(context: Context) -> None:
    assert (await run(context, "input()")).errors[0].name in ("EOFError", "StdinNotImplementedError")


@pytest.mark.parametrize(
    "attack",
    [
        "import os\nos.write(3, b'\\xff\\xff\\xff\\xff' + b'x' * 100)",
        "import os\nos.write(3, b'\\0\\0\\0\\5{nope')",
        "import os\nos.write(3, b'\\0\\0\\0\\2[]' * 1000)",
        "import os\nos.close(3)",
        "import socket\nsocket.socket(fileno=3).shutdown(2)",
    ],
)
async def test_a_guest_that_abuses_the_line_harms_itself_alone(backend: Backend, guest_python: str, attack: str) -> None:
    async with live(backend, guest_python) as victim, live(backend, guest_python) as attacker:
        await run(attacker, attack, wall_s=2.0)
        assert await shown(victim, "1 + 1") == "2"


async def test_a_copy_goes_on_with_everything_the_original_had_and_apart_from_it(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python) as original:
        await run(
            original,
            "import decimal, sqlite3\nvalues = list(range(100_000))\nbig = 'x' * 5_000_000\nheld = {'a': decimal.Decimal('1.5')}",
        )
        async with live(backend, guest_python) as other:
            await copy(original, other)
            assert await shown(other, "sum(values), len(big), held['a'] + 1") == "(4999950000, 5000000, Decimal('2.5'))"
            await run(other, "values.clear()\nmine = 1")
            assert await shown(original, "len(values), 'mine' in globals()") == "(100000, False)"
            await run(original, "values.append(-1)")
            assert await shown(other, "values") == "[]"
            assert await shown(other, "sqlite3.connect(':memory:').execute('select 40 + 2').fetchone()") == "(42,)"


async def test_copies_have_randomness_threads_and_processes_of_their_own(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python) as original:
        await run(original, "import random, threading, subprocess, os\nrandom.seed(1)")
        drawn = []
        for _ in range(2):
            async with live(backend, guest_python) as other:
                await copy(original, other)
                drawn.append(await shown(other, "random.random()"))
                code = "done = []\nthread = threading.Thread(target=done.append, args=(1,))\nthread.start()\nthread.join()\ndone"
                assert await shown(other, code) == "[1]"
                assert await shown(other, "subprocess.run(['echo', 'hi'], capture_output=True).stdout") == "b'hi\\n'"
                assert (
                    await shown(other, "child = os.fork() or os._exit(3)\nos.waitstatus_to_exitcode(os.waitpid(child, 0)[1])")
                    == "3"
                )
        assert len(set(drawn)) == 2


async def test_a_copy_can_be_copied(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python) as first, live(backend, guest_python) as second, live(backend, guest_python) as third:
        await run(first, "values = [bytes([n]) * 10_000 for n in range(200)]")
        await copy(first, second)
        await run(second, "values.append(b'second')")
        await copy(second, third)
        assert await shown(
            third, "len(values), values[-1], all(v == bytes([n]) * 10_000 for n, v in enumerate(values[:200]))"
        ) == ("(201, b'second', True)")


async def test_a_copy_outlives_its_original(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python) as other:
        async with live(backend, guest_python) as original:
            await run(original, "import numpy\nkept = numpy.arange(1000)")
            await copy(original, other)
        assert (
            await shown(other, "int(kept.sum()), int((numpy.ones((200, 200)) @ numpy.ones((200, 200))).sum())")
            == "(499500, 8000000)"
        )


async def test_a_copy_sees_the_files_of_its_own_box(backend: Backend, guest_python: str) -> None:
    ours, theirs = [await backend.open_files(16 * MIB, 1000) for _ in range(2)]
    try:
        async with live(backend, guest_python, ours) as original, live(backend, guest_python, theirs) as other:
            await run(original, "open('note', 'w').write('original')")
            await copy(original, other)
            assert await shown(other, "import os\nos.listdir('.')") == "[]"
            await run(other, "open('note', 'w').write('copy')")
            assert await shown(original, "open('note').read()") == "'original'"
    finally:
        await asyncio.gather(ours.close(), theirs.close())


async def test_a_context_can_be_interrupted_and_reports_signals_after_it_was_copied(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python) as original, live(backend, guest_python) as other:
        await copy(original, other)
        assert (await run(other, "import time\ntime.sleep(60)", wall_s=0.2)).ending is CellEnding.timed_out
        result = await run(other, "import os\nos.kill(os.getpid(), 9)")
        assert result.ending is CellEnding.died and "signal 9" in result.errors[0].text
        assert await shown(original, "1 + 1") == "2"


SENDS = """
import json, os, socket, struct
line = socket.socket(fileno=os.dup(3))
def send(text):
    line.sendall(struct.pack(">I", len(text)) + text)
def show(data):
    send(json.dumps({"event": "display", "cell": 0, "data": data}).encode())
"""
SHOWS = "from IPython.display import display\ndef show(data):\n    display(data, raw=True)\n"


async def test_a_flood_of_messages_is_cut_and_the_context_lives_on(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python, limits=LIMITS.replace(output_bytes=8 * MIB)) as context:
        await run(context, "from IPython.display import display")
        result = await run(context, "while True: display({'text/plain': 'x' * 900_000}, raw=True)")
        assert [error.name for error in result.errors] == ["OutputLimitError", "KeyboardInterrupt"]
        assert (await run(context, "print(len('abc'))")).stdout.text == "3\n"


async def test_a_flood_that_does_not_stop_ends_its_context_and_tells_why(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python, limits=LIMITS.replace(output_bytes=8 * MIB)) as context:
        await run(context, SENDS + "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})")
        result = await run(context, "while True: show({'text/plain': 'x' * 900_000})")
        assert (result.ending, result.errors[0].name) == (CellEnding.died, "OutputLimitError")


async def test_a_message_too_long_to_be_kept_is_dropped_and_told(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python) as context:
        result = await run(context, SHOWS + "show({'text/plain': 'x' * 3_000_000})\nshow({'text/plain': 'y'})")
        assert (result.ending, result.dropped_displays) == (CellEnding.ok, 1)
        assert [display["text/plain"] for display in result.displays] == ["y"]


async def test_a_message_with_more_values_than_allowed_is_not_parsed(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python) as context:
        result = await run(context, SHOWS + "show({'application/json': [1] * 150_000})\nshow({'text/plain': 'a,' * 200_000})")
        assert (result.ending, result.dropped_displays) == (CellEnding.ok, 1)
        assert [list(display) for display in result.displays] == [["text/plain"]]


async def test_what_announces_more_than_it_may_ever_send_is_ended_and_told_why(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python) as context:
        result = await run(context, SENDS + "line.sendall(b'\\xff' * 4)\nimport time\ntime.sleep(60)")
        assert (result.ending, result.errors[0].name) == (CellEnding.died, "OutputLimitError")


async def test_messages_between_cells_are_bounded_too(backend: Backend, guest_python: str) -> None:
    async with live(backend, guest_python) as context:
        floods = "import threading\ndef flood():\n    while True: show({'text/plain': 'x' * 900_000})\n"
        await run(context, SENDS + floods + "import time\nthreading.Timer(0.5, flood).start()")
        async with asyncio.timeout(60):
            while context.alive:
                await asyncio.sleep(0.05)
        assert (await run(context, "1")).ending is CellEnding.not_run
