"""Interpreters started before a program is submitted.

Some interpreters cannot be forked warm, but can be started ahead of time: in a waiting box, a loader program of the language (its
row names it) has started the interpreter and waits for the name of the program, which it then runs. So a caller waits only for
the program itself. A pool for each such language holds a few of these boxes while the language is in use.

A PrestartedBox is used like any other box, but its command must be the one it was started for, with limits that can still be
applied. Jobs with other limits get an ordinary box.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import Mapping
from typing import Self

from sandbox_runtime.engine.pools.box_pool import BoxPool
from sandbox_runtime.engine.pools.on_demand import OnDemandPool
from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.isolation.channel import wait_readable
from sandbox_runtime.isolation.port import Box, OnStarted, RunningCommand, Sink
from sandbox_runtime.languages.language import Language
from sandbox_runtime.languages.planner import Toolchain, prestart_step
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.job import File
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Outcome
from sandbox_runtime.model.policy import Policy
from sandbox_runtime.telemetry.logs import Log
from sandbox_runtime.workspace.staging import stage

READY_WITHIN_S = 30.0
MAX_IDLE_S = 3600.0
_FOLDER = "/run"


class PrestartedBox:
    def __init__(self, box: Box, policy: Policy) -> None:
        self.box = box
        self.policy = policy
        self.id = box.id
        self.backend = box.backend
        self.files_fd = box.files_fd
        self.writable: Mapping[str, str] = box.writable
        self.workdir = box.workdir
        self.clock = box.clock
        self._running: RunningCommand | None = None
        self._ended: asyncio.Task[Outcome] | None = None
        self._connection: socket.socket | None = None
        self._name_index = 0
        self.waits = False
        self._sink: Sink | None = None
        self._since_s = time.monotonic()

    async def begin(self, language: Language, python: str, toolchains: str, limits: Limits) -> None:
        """Start the loader and wait until it is ready."""
        assert language.prestart is not None
        path = f"{_FOLDER}/{language.prestart.name}"
        stage(self.box, [File(path, language.prestart.content)])
        step = prestart_step(language, Toolchain(python, self.workdir, toolchains=toolchains), path)
        self._name_index = step.argv.index(path)
        command = Command(step.argv, env=dict(step.env), limits=limits.replace(wall_s=MAX_IDLE_S + limits.wall_s))
        self._running = await self.box.start(command, sink=self._on_output, interactive=True, control=True)
        self._ended = asyncio.ensure_future(self._running.wait())
        assert self._running.control is not None
        self._connection = self._running.control.dup()
        await wait_readable(self._connection.fileno(), READY_WITHIN_S)
        if not self._connection.recv(1):
            raise PlatformFault(f"{language.title} could not be prestarted")

    @property
    def alive(self) -> bool:
        return self._ended is not None and not self._ended.done()

    @property
    def stale(self) -> bool:
        return self.outdated or time.monotonic() - self._since_s > MAX_IDLE_S

    @property
    def outdated(self) -> bool:
        return self.box.outdated

    def limit(self, limits: Limits) -> bool:
        return self._running is not None and self._running.limit(limits)

    async def start(
        self, command: Command, *, sink: Sink | None = None, interactive: bool = False, control: bool = False
    ) -> RunningCommand:
        """Let the loader run the command."""
        assert self._running is not None and self._connection is not None
        self._sink = sink
        self._running.restart(command.limits.wall_s)
        with contextlib.suppress(OSError, InvalidRequest):  # it is dead already, as _begun() will show
            self._connection.send(f"{json.dumps(command.argv[self._name_index])}\n".encode())
            self._running.feed(command.stdin or b"")
            if not interactive:
                self._running.end_input()
        return self._running

    async def run(self, command: Command, *, sink: Sink | None = None, on_started: OnStarted | None = None) -> Outcome:
        assert self._ended is not None
        running = await self.start(command, sink=sink, interactive=on_started is not None)
        try:
            if on_started is not None:
                on_started(running)
            outcome = await asyncio.shield(self._ended)
        except asyncio.CancelledError:
            running.cancel()
            raise
        if not self._begun():
            raise PlatformFault("the prestarted interpreter died before the program was submitted")
        return outcome

    def _begun(self) -> bool:
        """Whether the loader confirmed that it received the program's name."""
        assert self._connection is not None
        try:
            return bool(self._connection.recv(1))
        except OSError:
            return False

    async def close(self) -> None:
        await self.box.close()
        if self._connection is not None:
            self._connection.close()
        if self._ended is not None:
            await asyncio.wait((self._ended,), timeout=READY_WITHIN_S)

    def _on_output(self, name: str, piece: bytes) -> None:
        if self._sink is not None:
            self._sink(name, piece)


class PrestartPool:
    """Prestarted boxes of all languages that have a loader.

    - size: number of boxes of each language while it is in use.
    - default_limits: the limits they are started with; a job may have other time and memory limits.
    """

    def __init__(self, pool: BoxPool, python: str, toolchains: str, size: int, default_limits: Limits, log: Log) -> None:
        self._pool = pool
        self._python = python
        self._toolchains = toolchains
        self._size = size
        self._default_limits = default_limits
        self._log = log
        self._pools: dict[str, OnDemandPool[PrestartedBox]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await asyncio.gather(*(pool.close() for pool in self._pools.values()))

    async def take(self, language: Language, policy: Policy, limits: Limits) -> PrestartedBox | None:
        """Return a prestarted box, or None if none fits this job."""
        if not self._size or language.prestart is None or not self._fits(limits):
            return None
        box = await self._pool_for(language, policy).take()
        if box is None:
            return None
        self._mark_used(box)
        if box.limit(limits):
            return box
        await self.end(box)
        return None

    def refill(self, language: Language) -> None:
        """Start missing boxes. Call this after each job of such a language, with or without a prestarted box."""
        pool = self._pools.get(language.name)
        if pool is not None:
            pool.refill()

    def _fits(self, limits: Limits) -> bool:
        return (
            limits.replace(wall_s=self._default_limits.wall_s, memory_bytes=self._default_limits.memory_bytes)
            == self._default_limits
        )

    def _pool_for(self, language: Language, policy: Policy) -> OnDemandPool[PrestartedBox]:
        pool = self._pools.get(language.name)
        if pool is None:
            pool = OnDemandPool(language.name, self._size, lambda: self._start(language, policy), self.end, self._log)
            self._pools[language.name] = pool
        return pool

    async def _start(self, language: Language, policy: Policy) -> PrestartedBox:
        started = PrestartedBox(await self._pool.take(policy), policy)
        try:
            await started.begin(language, self._python, self._toolchains, self._default_limits)
        except BaseException:
            await self.end(started)
            raise
        started.waits = True
        self._pool.add_prestarted(1)
        return started

    def _mark_used(self, started: PrestartedBox) -> None:
        if started.waits:
            started.waits = False
            self._pool.add_prestarted(-1)

    async def end(self, started: PrestartedBox) -> None:
        self._mark_used(started)
        try:
            await self._pool.discard(started.policy, started.box)
        finally:
            await asyncio.shield(started.close())
