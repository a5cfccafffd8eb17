"""What changes in a folder of an area, while it changes.

Theory of operation. The kernel's inotify tells of folders, one watch each; a folder is named to it by a descriptor of ours,
never by a path. Events are read when the event loop says so and kept by path, so that a file written a thousand times is one
change; after a moment of gathering they are handed over together. A folder that appears is watched and looked through, for files
may be in it before the watch is. All of that is bounded, for the guest decides how much there is of it: when too much changes at
once, a single overflow is told instead, whoever watches has to list the folder again, and the watches are made anew in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import errno
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

from sandbox_runtime.workspace import inotify
from sandbox_runtime.workspace.area import Area, resolve_folder
from sandbox_runtime.workspace.folders import duplicate_area, folder
from sandbox_runtime.workspace.os_errors import translate_os_errors
from sandbox_runtime.workspace.threads import in_thread
from sandbox_runtime.workspace.walk import TooDeep, TooManyNames, walk

# Names looked at in the event loop between two hand-overs, in which nothing else can happen.
_MAX_NAMES_IN_LOOP = 1000
_MAX_NAMES = 100_000
_PAUSE_AFTER_OVERFLOW_S = 0.5


class ChangeKind(enum.StrEnum):
    created = enum.auto()
    modified = enum.auto()
    deleted = enum.auto()
    overflow = enum.auto()
    """More changed than is kept: list the folder again."""


@dataclass(frozen=True, slots=True)
class Change:
    kind: ChangeKind
    name: str = ""
    """Below the folder that is watched. Something that moves is deleted under one name and created under another."""
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class WatchBounds:
    max_folders: int = 1000
    max_pending: int = 10_000
    gather_s: float = 0.05


class Watch:
    """An iterator over groups of changes, each in the order in which its names first changed; to be made by watching()."""

    def __init__(self, files_fd: int, root: str, recursive: bool, bounds: WatchBounds) -> None:
        self._files_fd, self._root, self._recursive, self._bounds = files_fd, root, recursive, bounds
        self.is_partial = False
        """There are more folders than are watched. Told once, as an overflow."""
        self._pending: dict[str, Change] = {}
        self._overflown = self._stale = False
        self._names_left = _MAX_NAMES_IN_LOOP
        self._folders: dict[int, str] = {}
        self._changed = asyncio.Event()
        self._inotify_fd = inotify.new()

    async def start(self) -> None:
        await self._rebuild_watches()

    def close(self) -> None:
        """Idempotent. Whoever waits for the next change gets none."""
        if self._inotify_fd >= 0:
            self._stop_listening()
            os.close(self._inotify_fd)
        self._inotify_fd = -1
        self._changed.set()

    async def next(self, within_s: float | None = None) -> tuple[Change, ...]:
        """At least one change, or none when nothing has changed for that long, or when the watch is closed."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._changed.wait()
            if self._inotify_fd >= 0:
                await asyncio.sleep(_PAUSE_AFTER_OVERFLOW_S if self._overflown else self._bounds.gather_s)
        if self._stale and self._inotify_fd >= 0:
            await self._rebuild_watches()
        return self._take_changes()

    async def __aiter__(self) -> AsyncIterator[tuple[Change, ...]]:
        while self._inotify_fd >= 0:
            if changes := await self.next():
                yield changes

    def _take_changes(self) -> tuple[Change, ...]:
        if self._inotify_fd < 0:
            return ()
        changes = (Change(ChangeKind.overflow),) if self._overflown else tuple(self._pending.values())
        self._pending.clear()
        self._overflown = False
        self._names_left = _MAX_NAMES_IN_LOOP
        self._changed.clear()
        return changes

    def _listen(self) -> None:
        asyncio.get_running_loop().add_reader(self._inotify_fd, self._read_events)

    def _stop_listening(self) -> None:
        asyncio.get_running_loop().remove_reader(self._inotify_fd)

    async def _rebuild_watches(self) -> None:
        """In a thread, however many folders there are. Nothing is read meanwhile; the kernel keeps it, and nobody waits."""
        self._stop_listening()
        self._stale = False
        await in_thread(self._watch_all)
        self._listen()

    def _watch_all(self) -> None:
        self._watch_folder("")
        if not self._recursive:
            return
        try:
            for found in walk(self._files_fd, self._root, _MAX_NAMES):
                if found.is_folder and not self.is_partial:
                    self._watch_subfolder(found.path)
        except (TooManyNames, TooDeep):
            self._become_partial()

    def _read_events(self) -> None:
        for watch, mask, name in inotify.events(self._inotify_fd):
            if mask & inotify.OVERFLOW:
                self._overflow()
            elif mask & inotify.IGNORED:
                self._folders.pop(watch, None)
            elif name and (above := self._folders.get(watch)) is not None:
                self._record_event(f"{above}/{name}" if above else name, mask)

    def _record_event(self, path: str, mask: int) -> None:
        is_folder = bool(mask & inotify.IS_FOLDER)
        if mask & (inotify.CREATE | inotify.MOVED_TO):
            self._record_change(path, ChangeKind.created, is_folder)
            if is_folder and self._recursive:
                self._watch_subfolder(path)
                self._scan_new_folder(path)
        elif mask & (inotify.DELETE | inotify.MOVED_FROM):
            self._record_change(path, ChangeKind.deleted, is_folder)
            if is_folder:
                self._unwatch_subfolder(path)
        else:
            self._record_change(path, ChangeKind.modified, is_folder)

    def _record_change(self, path: str, kind: ChangeKind, is_folder: bool) -> None:
        self._changed.set()
        before = self._pending.get(path)
        if before is None and len(self._pending) >= self._bounds.max_pending:
            self._overflow()
        if self._overflown:
            return
        # New and written to is new; gone and there again is another.
        if before and before.kind is ChangeKind.created and kind is ChangeKind.modified:
            return
        if before and before.kind is ChangeKind.deleted and kind is ChangeKind.created:
            kind = ChangeKind.modified
        shown = path.encode(errors="surrogateescape").decode(errors="replace")
        self._pending[path] = Change(kind, shown, is_folder)

    def _overflow(self) -> None:
        self._overflown = True
        self._pending.clear()
        self._changed.set()

    def _watch_subfolder(self, path: str) -> None:
        """What is gone already needs no watch."""
        with contextlib.suppress(OSError):
            self._watch_folder(path)

    def _become_partial(self) -> None:
        if not self.is_partial:
            self.is_partial = True
            self._overflow()

    def _unwatch_subfolder(self, path: str) -> None:
        """Its watches would go on, under names that are wrong now."""
        for watch in [watch for watch, name in self._folders.items() if name == path or name.startswith(f"{path}/")]:
            del self._folders[watch]
            inotify.remove(self._inotify_fd, watch)

    def _scan_new_folder(self, path: str) -> None:
        """A folder that has just appeared."""
        try:
            for found in walk(self._files_fd, self._below(path), self._names_left):
                self._names_left -= 1
                self._record_change(f"{path}/{found.path}", ChangeKind.created, found.is_folder)
                if found.is_folder:
                    self._watch_subfolder(f"{path}/{found.path}")
        except (TooManyNames, TooDeep):
            self._stale = True
            self._overflow()
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise

    def _watch_folder(self, path: str) -> None:
        if len(self._folders) >= self._bounds.max_folders:
            self._become_partial()
            return
        with folder(self._files_fd, self._below(path)) as descriptor:
            self._folders[inotify.add(self._inotify_fd, descriptor)] = path

    def _below(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root


@contextlib.asynccontextmanager
async def watch_folder(
    area: Area, name: str = "", *, recursive: bool = True, bounds: WatchBounds | None = None
) -> AsyncIterator[Watch]:
    """Ends when the block is left, whatever waits on it. The area's descriptor is held meanwhile."""
    with duplicate_area(area) as held:
        watch = Watch(held.files_fd, resolve_folder(held, name), recursive, bounds or WatchBounds())
        try:
            with translate_os_errors(name or area.workdir, "watched"):
                await watch.start()
            yield watch
        finally:
            watch.close()
