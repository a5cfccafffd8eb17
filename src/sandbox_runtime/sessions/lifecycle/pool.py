"""Homes that stand ready: opened ahead of time for each template and mode, with a box that waits for the first program.

Theory of operation. There is a shelf for each template and mode that was asked for lately. Its target is the template's pool
size, or as many homes as were taken within one tick, whichever is more, never above the most that all shelves may hold together.
One task fills and shrinks all shelves; it sleeps until something was taken or a tick has passed. take() never waits for it: an
empty shelf means that the caller opens a home. A shelf that nobody asked for in its idle time is emptied down to the template's
minimum.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from sandbox_runtime.errors import SandboxError, Unavailable
from sandbox_runtime.model import PoolSizes, Resources, SessionMode, Template
from sandbox_runtime.sessions.nodes.node import Home, Host
from sandbox_runtime.telemetry import Log

TICK_S = 5.0
CLOSE_WITHIN_S = 30.0
_BACKOFF_S = 5.0
_FADE = 0.5
_REFILL_AFTER_S = 0.05


class Kind(NamedTuple):
    """What makes two homes the same to whoever takes one. Cores, memory and processes are limits of what runs in it."""

    template: str
    mode: SessionMode
    disk_bytes: int
    network: str = ""


@dataclass(slots=True)
class _Shelf:
    resources: Resources
    sizes: PoolSizes
    asked_at: float
    ready: deque[Home] = field(default_factory=deque)
    taken: float = 0.0

    def target(self, mode: SessionMode, now: float) -> int:
        if now - self.asked_at > self.sizes.idle_s:
            return self.sizes.minimum
        wanted = self.sizes.ephemeral if mode is SessionMode.ephemeral else self.sizes.persistent
        return max(wanted, self.sizes.minimum, round(self.taken))


class EnvironmentPool:
    """most: homes that stand ready, all together; 0: none do."""

    def __init__(self, host: Host, most: int, log: Log) -> None:
        self._host = host
        self._most = most
        self._log = log
        self._shelves: dict[Kind, _Shelf] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._burials: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> EnvironmentPool:
        if self._most:
            self._task = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *_error: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for shelf in self._shelves.values():
            while shelf.ready:
                self._bury(shelf.ready.popleft())
        if self._burials:
            await asyncio.wait(self._burials, timeout=CLOSE_WITHIN_S)

    @property
    def size(self) -> int:
        return sum(len(shelf.ready) for shelf in self._shelves.values())

    def has(self, kind: Kind) -> bool:
        shelf = self._shelves.get(kind)
        return shelf is not None and bool(shelf.ready)

    def want(self, template: Template, mode: SessionMode, resources: Resources, sizes: PoolSizes, network: str = "") -> Kind:
        """Homes of this kind are asked for: have some ready from now on."""
        kind = Kind(template.id, mode, resources.disk_bytes, network)
        now = asyncio.get_running_loop().time()
        shelf = self._shelves.get(kind)
        if shelf is None:
            shelf = self._shelves[kind] = _Shelf(resources, sizes, now)
            self._wake.set()
        shelf.asked_at, shelf.sizes = now, sizes
        return kind

    def take(self, kind: Kind) -> Home | None:
        """One that nobody used, now the caller's; None where none stands ready."""
        shelf = self._shelves.get(kind)
        if shelf is None:
            return None
        shelf.taken += 1
        home = shelf.ready.popleft() if shelf.ready else None
        if shelf.ready:  # opening another one at once would only slow what is about to run in this one
            asyncio.get_running_loop().call_later(_REFILL_AFTER_S, self._wake.set)
        else:
            self._wake.set()
        return home

    async def _keep(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._wake.wait()
            ticked = not self._wake.is_set()
            self._wake.clear()
            if not await self._fill():
                await asyncio.sleep(_BACKOFF_S)
            self._shrink()
            if ticked:
                self._fade()

    async def _fill(self) -> bool:
        """Whether every shelf could be filled."""
        for kind, shelf in list(self._shelves.items()):
            while self.size < self._most and len(shelf.ready) < shelf.target(kind.mode, asyncio.get_running_loop().time()):
                try:
                    home = await self._host.open(shelf.resources, kind.network)
                except Unavailable:
                    return False
                except (SandboxError, OSError) as error:
                    self._log.warning("no home could be opened ahead of time", reason=str(error))
                    return False
                home.prepare()
                shelf.ready.append(home)
        return True

    def _shrink(self) -> None:
        now = asyncio.get_running_loop().time()
        for kind, shelf in list(self._shelves.items()):
            target = shelf.target(kind.mode, now)
            while len(shelf.ready) > target:
                self._bury(shelf.ready.popleft())
            if not target and not shelf.ready:
                del self._shelves[kind]

    def _fade(self) -> None:
        for shelf in self._shelves.values():
            shelf.taken *= _FADE
            for home in shelf.ready:
                home.prepare()

    def _bury(self, home: Home) -> None:
        task = asyncio.create_task(home.close())
        self._burials.add(task)
        task.add_done_callback(self._burials.discard)
