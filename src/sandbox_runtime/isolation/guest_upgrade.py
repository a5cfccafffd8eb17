"""Notice that the guest's interpreter was replaced or upgraded while the server runs.

A spawner holds an interpreter in memory while its library lies on disk: after an upgrade the two do not fit. So what identifies
the interpreter on disk (device, inode, time and size of a few files and folders) is looked at every few seconds, by one task and
off the way of every run. A change counts once two looks in a row have found the same: an upgrade writes many files.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence

Stamp = tuple[int, int, int, int] | None
Stamps = tuple[Stamp, ...]


def read_stamps(paths: Sequence[str]) -> Stamps:
    """Return what identifies each file, None for one that is missing."""
    return tuple(_stamp(path) for path in paths)


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


class GuestUpgradeWatcher:
    """Calls `renew` after the files of the interpreter have changed. `renew` returns the files to look at from then on, or None
    where the interpreter cannot be used yet: then it is called again at the next look."""

    def __init__(self, paths: Sequence[str], every_s: float, on_change: Callable[[], Awaitable[Sequence[str] | None]]) -> None:
        self._paths = tuple(paths)
        self._every_s = every_s
        self._on_change = on_change
        self._known = read_stamps(paths)
        self._seen = self._known
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._poll())

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            found = await asyncio.to_thread(read_stamps, self._paths)
            settled, self._seen = found == self._seen, found
            if settled and found != self._known:
                await self._apply_change(found)

    async def _apply_change(self, found: Stamps) -> None:
        paths = await self._on_change()
        if paths is None:
            return
        same = tuple(paths) == self._paths
        self._paths = tuple(paths)
        self._known = found if same else await asyncio.to_thread(read_stamps, self._paths)
        self._seen = self._known
