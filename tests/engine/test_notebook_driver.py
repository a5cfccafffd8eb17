"""The words between server and driver, spoken to a driver in a box: orders one by one, as a session would give them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.notebooks import running

from sandbox_runtime.engine.injected_modules import NOTEBOOK_START, notebook_files
from sandbox_runtime.isolation.port import RunningCommand
from sandbox_runtime.model import Command, File, Outcome, Policy
from sandbox_runtime.workspace import stage

WITHIN_S = 60.0
FOLDER = "/run/notebook"


class Conversation:
    def __init__(self) -> None:
        self._said = bytearray()
        self._events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.running: RunningCommand

    def on_output(self, name: str, piece: bytes) -> None:
        if name == "stdout":
            self._said += piece
            *lines, rest = self._said.split(b"\n")
            self._said = bytearray(rest)
            for line in lines:
                self._events.put_nowait(json.loads(line))

    def say(self, **order: Any) -> None:
        self.running.feed(json.dumps(order).encode() + b"\n")

    def execute(self, cell: int, code: str) -> None:
        self.say(do="execute", cell=cell, code=code, wall_s=0)

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(WITHIN_S):
            return await self._events.get()

    async def until_done(self) -> list[dict[str, Any]]:
        found = [await self.next()]
        while found[-1]["event"] != "done":
            found.append(await self.next())
        return found

    async def end(self) -> Outcome:
        async with asyncio.timeout(WITHIN_S):
            return await self.running.wait()


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Conversation]:
    async with running(tmp_path) as run:
        platform, policy = run.platform, Policy(preset="notebook", single_use=True)
        box = await platform.pool.take(policy)
        try:
            stage(box, [File(f"{FOLDER}/{name}", content) for name, content in notebook_files()])
            talk = Conversation()
            command = Command(
                (platform.settings.guest_python, f"{FOLDER}/{NOTEBOOK_START}"), limits=platform.request_limits.for_checks()
            )
            talk.running = await box.start(command, sink=talk.on_output, interactive=True)
            assert await talk.next() == {"event": "ready"}
            yield talk
        finally:
            await platform.pool.discard(policy, box)


async def test_a_kernel_keeps_its_state_from_one_order_to_the_next(talk: Conversation) -> None:
    talk.execute(0, "x = 20")
    assert [event["how"] for event in await talk.until_done()] == ["ok"]
    talk.execute(1, "print(x); x + 1")
    *streams, display, done = await talk.until_done()
    assert {(event["event"], event["cell"], event["name"]) for event in streams} == {("stream", 1, "stdout")}
    assert "".join(event["text"] for event in streams) == "20\n"
    assert display == {"event": "display", "cell": 1, "data": {"text/plain": "21"}}
    assert done == {"event": "done", "cell": 1, "how": "ok"}
    talk.say(do="shutdown", gently=True)
    assert (await talk.end()).ok


async def test_a_running_cell_can_be_interrupted_and_the_kernel_goes_on(talk: Conversation) -> None:
    talk.execute(0, "x = 1\nprint('begun', flush=True)\nimport time; time.sleep(600)")
    assert (await talk.next())["text"] == "begun\n"
    talk.say(do="interrupt")
    error, done = await talk.until_done()
    assert (error["ename"], done["how"]) == ("KeyboardInterrupt", "error")
    talk.execute(1, "x")
    assert (await talk.until_done())[0]["data"] == {"text/plain": "1"}


async def test_output_comes_while_the_cell_still_runs(talk: Conversation) -> None:
    talk.execute(
        0, "import os, time\nprint('first', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('second')"
    )
    assert (await talk.next())["text"] == "first\n"
    talk.say(do="interrupt")
    assert [event["event"] for event in await talk.until_done()] == ["error", "done"]


async def test_the_end_of_orders_ends_the_driver(talk: Conversation) -> None:
    talk.execute(0, "1")
    talk.running.end_input()
    assert [event["event"] for event in await talk.until_done()] == ["display", "done"]
    assert (await talk.end()).ok


async def test_an_order_after_the_death_of_the_kernel_is_answered(talk: Conversation) -> None:
    talk.execute(0, "import os; os._exit(9)")
    assert (await talk.until_done())[-1] == {"event": "done", "cell": 0, "how": "died", "code": 9}
    talk.execute(1, "1")
    assert await talk.next() == {"event": "done", "cell": 1, "how": "not_run"}
    talk.say(do="shutdown")
    assert (await talk.end()).exit_code == 3
