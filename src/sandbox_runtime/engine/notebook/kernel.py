"""A running kernel: a box in which the driver runs, and the events it sends."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections import deque

from sandbox_runtime.engine.injected_modules import NOTEBOOK_START, notebook_files
from sandbox_runtime.engine.notebook.buffers import LineSplitter
from sandbox_runtime.engine.notebook.transcript import LARGE_BYTES, Transcript, parse, read_event
from sandbox_runtime.engine.pools.on_demand import CannotStart
from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.port import Box, RunningCommand
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.job import File
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.notebook import MAX_CELL_S, Notebook
from sandbox_runtime.model.outcome import Ending, Outcome
from sandbox_runtime.workspace.staging import stage

START_WITHIN_S = 60.0
END_WITHIN_S = 30.0
MAX_IDLE_S = 6 * 3600.0
"""How long a kernel may wait for its notebook."""
TIMEOUT_MESSAGE = "ended by the wall time limit of the notebook (total_timeout)"
_LINE_OVERHEAD_BYTES = 64 * 1024
_DRIVER_FOLDERS = ("run", "tmp")
"""Writable folders of a box in which the driver may lie; the first that exists is used."""


class KernelStartError(CannotStart):
    """The limits of the guest were too small for the kernel to start."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


class LiveKernel:
    """A running kernel, which its owner must close(). `limits` are those of the command at its start."""

    def __init__(self, box: Box, limits: Limits, keep_bytes: int) -> None:
        self.box = box
        self.limits = limits
        self._keep_bytes = keep_bytes
        self._lines = LineSplitter(keep_bytes + _LINE_OVERHEAD_BYTES)
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[str] = self._loop.create_future()
        self._transcript: Transcript | None = None
        self._running: RunningCommand | None = None
        self._unread: deque[bytes] = deque()
        self._reading: asyncio.Task[None] | None = None
        self._ended: asyncio.Task[Outcome] | None = None
        self.since_s = time.monotonic()

    async def start(self, python: str) -> None:
        """Start the kernel and wait until it is up. Raises Unavailable if the guest has none, KernelStartError if limits are
        too small."""
        folder = _folder_for_driver(self.box)
        stage(self.box, [File(f"{folder}/{name}", content) for name, content in notebook_files()])
        limits = self.limits.replace(wall_s=min(MAX_IDLE_S + self.limits.wall_s + END_WITHIN_S, MAX_CELL_S))
        self._running = await self.box.start(
            Command((python, f"{folder}/{NOTEBOOK_START}"), limits=limits), sink=self._on_output, interactive=True
        )
        self._ended = asyncio.ensure_future(self._running.wait())
        await asyncio.wait((self._ready, self._ended), timeout=START_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done():
            if reason := self._ready.result():
                raise Unavailable(reason)
        elif self._ended.done():
            raise _failure_to_start(self._ended.result())
        else:
            raise PlatformFault(f"no kernel started within {START_WITHIN_S:g} s")

    @property
    def alive(self) -> bool:
        return self._ended is not None and not self._ended.done()

    @property
    def stale(self) -> bool:
        return self.box.outdated or time.monotonic() - self.since_s > MAX_IDLE_S

    def limit(self, limits: Limits) -> bool:
        """Apply these limits from now on. Returns False if that is impossible."""
        return self._running is not None and self._running.limit(limits)

    async def perform(self, notebook: Notebook, *, gently: bool) -> tuple[Outcome, Transcript]:
        """Run the cells. The kernel is gone afterwards in any case."""
        assert self._running is not None and self._ended is not None
        self._transcript = Transcript(len(notebook.cells), notebook.cell_wall_s, self._keep_bytes)
        began = time.monotonic()
        if self.alive:
            self._running.feed(_orders(notebook, gently=gently))
            self._running.end_input()
        outcome, late = await self._end(notebook.limits.wall_s)
        if self._reading is not None:
            await self._reading
        if late:
            outcome = dataclasses.replace(outcome, ending=Ending.timed_out, message=TIMEOUT_MESSAGE)
        usage = dataclasses.replace(outcome.usage, wall_s=time.monotonic() - began)
        return dataclasses.replace(outcome, usage=usage), self._transcript

    async def _end(self, wall_s: float) -> tuple[Outcome, bool]:
        """Return the outcome, and whether the time was up before."""
        assert self._running is not None and self._ended is not None
        done, _ = await asyncio.wait((self._ended,), timeout=wall_s)
        if done:
            return self._ended.result(), False
        self._running.cancel()
        done, _ = await asyncio.wait((self._ended,), timeout=END_WITHIN_S)
        if not done:
            raise PlatformFault("the box of the notebook did not stop in time")
        outcome = self._ended.result()
        return outcome, outcome.ending is Ending.cancelled

    async def close(self) -> None:
        """Wait for the kernel's task. The box is closed by whoever opened it."""
        if self._running is not None:
            self._running.cancel()
        if self._ended is not None:
            await asyncio.wait((self._ended,), timeout=END_WITHIN_S)

    def _on_output(self, name: str, piece: bytes) -> None:
        if name != "stdout":
            return
        for line in self._lines.split(piece):
            if self._transcript is not None:
                self._on_event(self._transcript, line)
            elif not self._ready.done():
                self._on_first_line(line)

    def _on_event(self, transcript: Transcript, line: bytes) -> None:
        """Handle events in order: small ones wait behind a large one, which is parsed in a thread."""
        if self._reading is None and len(line) <= LARGE_BYTES:
            transcript.add_line(line)
            return
        self._unread.append(line)
        if self._reading is None:
            self._reading = asyncio.create_task(self._read(transcript))

    async def _read(self, transcript: Transcript) -> None:
        while self._unread:
            line = self._unread.popleft()
            transcript.add_event(await asyncio.to_thread(read_event, line, transcript.elements_left))
        self._reading = None

    def _on_first_line(self, line: bytes) -> None:
        """Handle the driver's first line. No cell has run yet, so it comes from the driver itself."""
        event = parse(line) or {}
        if event.get("event") == "ready":
            self._ready.set_result("")
        elif event.get("event") == "unavailable":
            self._ready.set_result(str(event.get("text")))


def _orders(notebook: Notebook, *, gently: bool) -> bytes:
    wall_s = notebook.cell_wall_s or 0
    cells = [{"do": "execute", "cell": at, "code": code, "wall_s": wall_s} for at, code in enumerate(notebook.cells)]
    return "".join(f"{json.dumps(order)}\n" for order in [*cells, {"do": "shutdown", "gently": gently}]).encode()


def _folder_for_driver(box: Box) -> str:
    folders = {place: folder for folder, place in box.writable.items()}
    return f"{next(folders[place] for place in _DRIVER_FOLDERS if place in folders)}/notebook"


def _failure_to_start(outcome: Outcome) -> Exception:
    if outcome.ending in (Ending.out_of_memory, Ending.process_limit, Ending.disk_limit):
        message = f"{outcome.message} before the kernel was up; raise the limit of the notebook"
        return KernelStartError(dataclasses.replace(outcome, message=message))
    last = (outcome.message or outcome.stderr.text).strip().splitlines()
    return PlatformFault(f"the kernel did not start: {last[-1][:300] if last else outcome.ending}")
