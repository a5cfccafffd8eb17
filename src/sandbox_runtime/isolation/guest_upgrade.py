"""Detect that the guest interpreter was replaced or upgraded while the server runs.

A spawner holds an interpreter in memory while its library is on disk; after an upgrade the two no longer match. So one task
checks every few seconds what identifies the interpreter on disk (device, inode, mtime and size of a few files and folders). An
upgrade writes many files, so a change counts only when two checks in a row agree.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence

Stamp = tuple[int, int, int, int] | None
Stamps = tuple[Stamp, ...]


def read_stamps(paths: Sequence[str]) -> Stamps:
    """Return what identifies each file; None for a missing one."""
    return tuple(_stamp(path) for path in paths)


def _stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


class GuestUpgradeWatcher:
    """Calls `on_change` after files of the interpreter have changed. `on_change` returns the files to watch from then on, or
    None if the interpreter is not usable yet; it is then called again at the next check."""

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
            stamps = await asyncio.to_thread(read_stamps, self._paths)
            settled, self._seen = stamps == self._seen, stamps
            if settled and stamps != self._known:
                await self._apply_change(stamps)

    async def _apply_change(self, stamps: Stamps) -> None:
        paths = await self._on_change()
        if paths is None:
            return
        same = tuple(paths) == self._paths
        self._paths = tuple(paths)
        self._known = stamps if same else await asyncio.to_thread(read_stamps, self._paths)
        self._seen = self._known
