"""What goes wrong on machines, done on purpose: processes killed from outside, a disk that is full, rows that cannot be had."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.judge.rows import FolderRows, RowId
from sandbox_runtime.model import Row
from sandbox_runtime.perf import processes

_MIN_WAIT_S, _MAX_WAIT_S = 0.05, 0.5
_FULL_FOR_S, _AWAY_FOR_S = 0.4, 0.4
_CHUNK_BYTES = 1024 * 1024
_MAX_CHUNKS = 1024


class UnavailableRows(FolderRows):
    """Rows that cannot be had while `away`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.away = False

    async def find(self, table: str, row_id: RowId) -> Row | None:
        if self.away:
            raise PlatformFault("the rows cannot be had")
        return await super().find(table, row_id)


class Saboteur:
    """folder: on a disk of its own, small enough to be filled; None: no disk is filled. done: what was done, how often."""

    def __init__(self, rows: UnavailableRows | None, folder: Path | None, seed: int = 0) -> None:
        self._rows = rows
        self._folder = folder
        self._chance = random.Random(seed)
        self.done: Counter[str] = Counter()

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        working = asyncio.create_task(self._work())
        try:
            yield
        finally:
            working.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await working

    async def _work(self) -> None:
        ways = [*[self.kill_one] * 8, self._keep_rows_away, self._fill_disk]
        while True:
            await asyncio.sleep(self._chance.uniform(_MIN_WAIT_S, _MAX_WAIT_S))
            await self._chance.choice(ways)()

    async def kill_one(self, wanted: Callable[[str], bool] = lambda name: True) -> None:
        """Any process that descends from this one: spawners, boxes, programs, compilers. wanted: by its name."""
        alive = [pid for pid in sorted(processes.descendants(os.getpid())) if wanted(_name_of(pid))]
        if not alive:
            return
        pid = self._chance.choice(alive)
        name = _name_of(pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
            self.done[f"killed {name}"] += 1

    async def _keep_rows_away(self) -> None:
        if self._rows is None:
            return
        self._rows.away = True
        try:
            await asyncio.sleep(_AWAY_FOR_S)
        finally:
            self._rows.away = False
        self.done["rows away"] += 1

    async def _fill_disk(self) -> None:
        if self._folder is None:
            return
        filler = self._folder / "filler"
        try:
            _fill(filler)
            await asyncio.sleep(_FULL_FOR_S)
        finally:
            filler.unlink(missing_ok=True)
        self.done["disk full"] += 1


def _fill(path: Path) -> None:
    """Until there is no room for another byte; it may be that there is none for the file itself."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    except OSError as error:
        _check_full(error)
        return
    try:
        for _ in range(_MAX_CHUNKS):
            os.write(descriptor, bytes(_CHUNK_BYTES))
    except OSError as error:
        _check_full(error)
    finally:
        os.close(descriptor)


def _check_full(error: OSError) -> None:
    if error.errno != errno.ENOSPC:
        raise error


def _name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
