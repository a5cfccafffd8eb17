"""A small backend of real subprocesses, without isolation: what the engine's tests stand on."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Running, Sink
from sandbox_runtime.model import Command, Ending, LayerReport, Outcome, Output, Policy, Usage

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}


class PlainBox:
    backend = "plain"

    def __init__(self, number: int, owner: PlainBackend) -> None:
        self.id = f"plain-{number}"
        self._owner = owner
        self._folder = Path(tempfile.mkdtemp(prefix="plain-box-"))
        self.workdir = str(self._folder / "work")
        (self._folder / "work").mkdir()
        (self._folder / "tmp").mkdir()
        self.writable = {self.workdir: "work", "/tmp": "tmp"}
        self.files_fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        self.commands: list[Command] = []
        self.closed = False

    async def start(self, command: Command, *, sink: Sink | None = None, interactive: bool = False) -> Running:
        raise NotImplementedError

    async def run(self, command: Command, *, sink: Sink | None = None) -> Outcome:
        self._owner.started += 1
        if self._owner.broken or self.id in self._owner.broken_boxes:
            raise PlatformFault("the box is broken")
        self.commands.append(command)
        began = time.monotonic()
        try:
            process = await asyncio.create_subprocess_exec(
                *command.argv,
                cwd=self.workdir,
                env={**ENVIRONMENT, **command.env},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            return Outcome(Ending.not_started, message=str(error), isolation="plain")
        try:
            out, err = await asyncio.wait_for(process.communicate(command.stdin or b""), command.limits.wall_s)
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            return Outcome(Ending.timed_out, signal=9, usage=Usage(time.monotonic() - began), isolation="plain")
        if sink:
            sink("stdout", out)
        return self._outcome(process.returncode or 0, out, err, time.monotonic() - began)

    def _outcome(self, code: int, out: bytes, err: bytes, wall_s: float) -> Outcome:
        ending = Ending.exited if code >= 0 else Ending.signaled
        exit_code, number = (code, None) if code >= 0 else (None, -code)
        return Outcome(ending, exit_code, number, Output(out), Output(err), Usage(wall_s), isolation="plain")

    async def close(self) -> None:
        if not self.closed:
            self.closed = True
            os.close(self.files_fd)
            shutil.rmtree(self._folder)
            self._owner.open_boxes.discard(self)


class PlainBackend:
    name = "plain"

    def __init__(self, open_delay_s: float = 0.0) -> None:
        self.open_boxes: set[PlainBox] = set()
        self.opened = self.started = self.refused = 0
        self.broken = False
        self.failing = False
        self.broken_boxes: set[str] = set()
        self._numbers = itertools.count(1)
        self._open_delay_s = open_delay_s

    async def __aenter__(self) -> PlainBackend:
        return self

    async def __aexit__(self, *_error: object) -> None:
        for box in list(self.open_boxes):
            await box.close()

    async def open(self, policy: Policy) -> PlainBox:
        await asyncio.sleep(self._open_delay_s)
        if self.failing:
            self.refused += 1
            raise PlatformFault("no boxes today")
        box = PlainBox(next(self._numbers), self)
        self.opened += 1
        self.open_boxes.add(box)
        return box

    def layers(self) -> Sequence[LayerReport]:
        return ()
