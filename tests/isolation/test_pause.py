"""Boxes that are stopped for a while: nothing in them takes a step, their time stands still, and they end as others do."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import command, shell
from tests.isolation.leftovers import groups_of

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.kernel.reaper import descendants
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.port import Backend, Box, Files, RunningCommand
from sandbox_runtime.model import Command, Ending, Policy
from sandbox_runtime.model.limits import MIB

pytestmark = pytest.mark.asyncio(loop_scope="module")
WITHIN_S = 30.0
BOMB = "echo begun; bomb() { bomb | bomb & bomb; }; trap '' TERM INT; bomb 2>/dev/null"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backend(options: BackendOptions) -> AsyncIterator[Backend]:
    skip_where_the_host_lacks("namespaces")
    async with open_backend("namespaces", options) as open_box:
        yield open_box


@pytest_asyncio.fixture(loop_scope="module")
async def files(backend: Backend) -> AsyncIterator[Files]:
    made = await backend.open_files(8 * MIB, 1000)
    if made.no_pause:
        await made.close()
        pytest.skip(f"this host cannot stop boxes: {made.no_pause}")
    yield made
    await made.close()


@asynccontextmanager
async def a_box(backend: Backend, files: Files, *, single_use: bool = True) -> AsyncIterator[Box]:
    box = await backend.open(Policy(single_use=single_use), files)
    try:
        yield box
    finally:
        await box.close()


async def started(box: Box, ordered: Command) -> tuple[RunningCommand, asyncio.Event]:
    """When it has printed something; the event is set whenever it prints more."""
    heard = asyncio.Event()
    running = await box.start(ordered, sink=lambda _name, _piece: heard.set(), interactive=True)
    async with asyncio.timeout(WITHIN_S):
        await heard.wait()
    heard.clear()
    return running, heard


def cpu_s(box: Box) -> float:
    used = box._group.cpu_s()  # type: ignore[attr-defined]
    assert used is not None
    return float(used)


@pytest.mark.parametrize("single_use", [False, True])
async def test_a_paused_program_stands_still_and_goes_on_where_it_was(backend: Backend, files: Files, single_use: bool) -> None:
    async with a_box(backend, files, single_use=single_use) as box:
        running, heard = await started(box, shell("echo begun; while read line; do echo $line; done"))
        await files.pause()
        at_s = box.clock.time()
        running.feed(b"more\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await heard.wait()
        assert box.clock.time() == at_s
        files.resume()
        running.end_input()
        outcome = await running.wait()
    assert (outcome.ending, outcome.stdout.text) == (Ending.exited, "begun\nmore\n")


async def test_the_wall_limit_does_not_run_on_while_it_is_paused(backend: Backend, files: Files) -> None:
    async with a_box(backend, files) as box:
        running, _ = await started(box, shell("echo begun; read line", wall_s=3.0))
        await files.pause()
        await asyncio.sleep(3.2)
        files.resume()
        running.end_input()
        outcome = await running.wait()
        assert outcome.ending is Ending.exited and outcome.usage.wall_s < 3.0


async def test_and_ends_it_when_it_has_gone_on(backend: Backend, files: Files) -> None:
    async with a_box(backend, files) as box:
        running, _ = await started(box, shell("echo begun; read line", wall_s=0.5))
        await files.pause()
        files.resume()
        assert (await running.wait()).ending is Ending.timed_out


@pytest.mark.attack
@pytest.mark.parametrize("single_use", [False, True])
async def test_a_fork_bomb_is_stopped_to_the_last_and_killed_without_another_step(
    backend: Backend, files: Files, single_use: bool
) -> None:
    async with a_box(backend, files, single_use=single_use) as box:
        running, _ = await started(box, shell(BOMB, processes=50))
        await files.pause()
        used_s = cpu_s(box)
        await asyncio.sleep(0.2)
        assert cpu_s(box) == used_s
        running.cancel()
        outcome = await asyncio.wait_for(running.wait(), WITHIN_S)
    assert outcome.ending is Ending.cancelled
    assert not [folder for folder in groups_of(os.getpid()) if f"/{box.id}_" in folder]


@pytest.mark.attack
async def test_a_program_that_hides_from_signals_is_stopped_all_the_same(
    backend: Backend, files: Files, guest_python: str
) -> None:
    """Nobody is told: no handler runs, no stop is seen by a parent, and a child of vfork holds its parent back in vain. That its
    own children end is no word of ours."""
    hiding = (
        "import signal, subprocess, sys\n"
        "for number in set(signal.valid_signals()) - {9, 17, 19}: signal.signal(number, lambda *_: print('caught', flush=True))\n"
        "print('begun', flush=True)\n"
        "while True: subprocess.run(['true'])\n"
    )
    async with a_box(backend, files) as box:
        running, heard = await started(box, command(guest_python, "-c", hiding))
        await files.pause()
        running.send_signal(signal.SIGUSR1)
        used_s = cpu_s(box)
        await asyncio.sleep(0.2)
        assert cpu_s(box) == used_s and not heard.is_set()
        running.cancel()
        outcome = await asyncio.wait_for(running.wait(), WITHIN_S)
    assert "caught" not in outcome.stdout.text


async def test_what_is_started_while_paused_begins_when_it_goes_on(backend: Backend, files: Files) -> None:
    async with a_box(backend, files, single_use=False) as first:
        await first.run(shell("true"))
        await files.pause()
        async with a_box(backend, files) as later:
            runs = [asyncio.ensure_future(box.run(shell("echo ran > by-$$; echo ran"))) for box in (first, later)]
            done, _ = await asyncio.wait(runs, timeout=0.3)
            assert not done
            files.resume()
            outcomes = await asyncio.wait_for(asyncio.gather(*runs), WITHIN_S)
    assert [outcome.stdout.text for outcome in outcomes] == ["ran\n", "ran\n"]


async def test_only_the_boxes_of_these_files_are_paused(backend: Backend, files: Files) -> None:
    others = await backend.open_files(MIB, 1000)
    try:
        await files.pause()
        async with a_box(backend, others) as box:
            assert (await box.run(shell("echo on"))).stdout.text == "on\n"
    finally:
        await others.close()


@pytest.mark.parametrize("single_use", [False, True])
async def test_closing_what_is_paused_leaves_nothing(backend: Backend, single_use: bool) -> None:
    files = await backend.open_files(MIB, 1000)
    if files.no_pause:
        pytest.skip(files.no_pause)
    before = set(descendants(os.getpid()))
    box = await backend.open(Policy(single_use=single_use), files)
    running, _ = await started(box, shell("sleep 300 & echo begun; wait"))
    assert len(set(descendants(os.getpid())) - before) >= 3
    await files.pause()
    await asyncio.wait_for(files.close(), WITHIN_S)
    assert (await running.wait()).ending is Ending.cancelled
    assert set(descendants(os.getpid())) <= before
    assert not [folder for folder in groups_of(os.getpid()) if f"/{box.id}_" in folder]


async def test_where_there_is_no_freezer_pausing_says_why(backend: Backend) -> None:
    files = await backend.open_files(MIB, 1000)
    try:
        if not files.no_pause:
            files.no_pause = "there is no freezer; have one"
        with pytest.raises(Unavailable, match="cannot be paused here: "):
            await files.pause()
    finally:
        await files.close()
