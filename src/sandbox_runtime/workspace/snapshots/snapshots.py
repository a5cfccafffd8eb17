"""Saving and restoring the files of one session. See the package's contract for the order in which things are stored."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sandbox_runtime.errors import NotFound, PlatformFault, SandboxError
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.extents import area_bytes
from sandbox_runtime.workspace.folders import duplicate_area
from sandbox_runtime.workspace.snapshots import diff
from sandbox_runtime.workspace.snapshots import manifest as manifests
from sandbox_runtime.workspace.snapshots.manifest import Manifest, SnapshotEntry, SnapshotEntryKind
from sandbox_runtime.workspace.snapshots.pack import ObjectPacker, groups
from sandbox_runtime.workspace.snapshots.restore import ObjectRestorer, finish, make_all_folders
from sandbox_runtime.workspace.snapshots.scan import UNSURE_NS, ScannedEntry, Stamp, scan_area
from sandbox_runtime.workspace.storage import Storage, delete_below, read_all
from sandbox_runtime.workspace.threads import in_thread, iterate_in_thread

_MAX_ENTRIES = 1_000_000
_MAX_OBJECTS = 100_000
_MANIFEST_BYTES = 256 * MIB

Admit = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class SaveResult:
    entries: int
    stored_files: int
    stored_bytes: int
    changed: bool
    """False: the storage held all of it already."""


@dataclass(frozen=True, slots=True)
class RestoreResult:
    entries: int
    size_bytes: int


class Snapshots:
    """Of one session, whose objects lie below prefix. folders: which of the area's are kept, as the program sees them. One save
    at a time; programs may run meanwhile, and each file is kept as it was at one moment or told apart next time."""

    def __init__(self, storage: Storage, prefix: str, folders: Sequence[str]) -> None:
        self._storage = storage
        self._prefix = prefix
        self._folders = tuple(folders)
        self._last = Manifest()
        self._manifest_bytes = 0
        self._stamps: dict[str, Stamp] = {}
        self._busy = asyncio.Lock()

    @property
    def held_bytes(self) -> int:
        """What the storage holds of it, as of the last save or restore."""
        return sum(self._last.objects.values()) + self._manifest_bytes

    async def save(self, area: Area, admit: Admit | None = None) -> SaveResult:
        """admit: asked with what the storage will hold of it meanwhile; raises where that is too much."""
        async with self._busy:
            with duplicate_area(area) as held:
                return await self._save(held, admit)

    async def restore(self, area: Area) -> RestoreResult | None:
        """Into an area in which nothing runs yet. None where nothing was saved. Raises PlatformFault where what was saved is
        damaged; the area is not to be used then."""
        async with self._busy:
            try:
                text = await read_all(self._storage, self._key("manifest"), _MANIFEST_BYTES)
            except NotFound:
                return None
            with duplicate_area(area) as held:
                restored = await self._restore(held, manifests.read(text))
        self._manifest_bytes = len(text)
        return restored

    async def delete(self) -> None:
        """All that was saved."""
        async with self._busy:
            await delete_below(self._storage, f"{self._prefix}/")
            self._last, self._stamps, self._manifest_bytes = Manifest(), {}, 0

    async def _save(self, area: Area, admit: Admit | None) -> SaveResult:
        seen = await in_thread(lambda: scan_area(area, self._folders, _MAX_ENTRIES))
        held, changed = await in_thread(lambda: diff.sort(area, seen, self._last, self._stamps))
        stored = _SavedObjects()
        if admit is not None and changed:
            admit(self.held_bytes + sum(item.real_bytes for item in changed))
        try:
            await self._store(area, changed, stored, area_bytes(area))
            made = self._manifest(seen, held, stored)
            if is_new := made != self._last:
                self._manifest_bytes = await self._storage.put(self._key("manifest"), _single_chunk(manifests.write(made)))
        except SandboxError:
            await self._drop(stored.objects)
            raise
        unnamed = {*self._last.objects, *stored.objects} - {*made.objects}
        self._last = made
        self._stamps = _stamps(seen, held, stored)
        await self._drop(unnamed)
        return SaveResult(len(made.entries), len(stored.files), sum(stored.objects.values()), is_new)

    async def _store(self, area: Area, files: Sequence[ScannedEntry], stored: _SavedObjects, max_bytes: int) -> None:
        for group in groups(files):
            name = secrets.token_hex(16)
            packing = ObjectPacker(area, name, group, max_bytes - sum(stored.objects.values()))
            async with contextlib.aclosing(iterate_in_thread(packing.chunks())) as source:
                stored.objects[name] = await self._storage.put(self._object(name), source)
            stored.files += packing.packed

    def _manifest(self, seen: Sequence[ScannedEntry], held: Sequence[SnapshotEntry], stored: _SavedObjects) -> Manifest:
        files = {entry.path: entry for entry in (*held, *(entry for entry, _ in stored.files))}
        entries = tuple(diff.entries(seen, files))
        named = {entry.object for entry in entries if entry.object}
        sizes = {**self._last.objects, **stored.objects}
        return Manifest(entries, {name: sizes[name] for name in sorted(named)})

    async def _drop(self, objects: Collection[str]) -> None:
        """Nothing names them. Where that fails they are dropped by the next restore."""
        if objects:
            with contextlib.suppress(SandboxError):
                await self._storage.delete([self._object(name) for name in objects])

    async def _restore(self, area: Area, saved: Manifest) -> RestoreResult:
        await in_thread(lambda: make_all_folders(area, saved.entries))
        files = [entry for entry in saved.entries if entry.kind is SnapshotEntryKind.file]
        for name in saved.objects:
            await self._fill(name, ObjectRestorer(area, [entry for entry in files if entry.object == name]))
        await in_thread(lambda: finish(area, saved.entries))
        # Nothing runs in it yet: once the clock has moved on, what the files look like now stands for what they hold.
        await asyncio.sleep(2 * UNSURE_NS / 1e9)
        seen = await in_thread(lambda: scan_area(area, self._folders, _MAX_ENTRIES))
        self._last = saved
        self._stamps = {item.entry.path: item.stamp for item in seen if item.stamp}
        await self._drop_unnamed(saved.objects)
        return RestoreResult(len(saved.entries), sum(entry.stored_bytes for entry in files))

    async def _fill(self, name: str, filling: ObjectRestorer) -> None:
        try:
            async for chunk in self._storage.get(self._object(name), 0, filling.needed_bytes):
                await _feed(filling, chunk)
            await in_thread(filling.end)
        except NotFound as error:
            raise PlatformFault("the snapshot is damaged: an object of it is missing") from error
        finally:
            filling.close()

    async def _drop_unnamed(self, objects: Mapping[str, int]) -> None:
        """What a server that was killed while it saved had stored already."""
        stored = await self._storage.list(self._key("objects/"), _MAX_OBJECTS)
        await self._drop({item.key.rpartition("/")[2] for item in stored} - {*objects})

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}"

    def _object(self, name: str) -> str:
        return self._key(f"objects/{name}")


@dataclass(slots=True)
class _SavedObjects:
    """What one save has put into the storage: sizes of objects by name, files with the stamp they had."""

    objects: dict[str, int] = field(default_factory=dict)
    files: list[tuple[SnapshotEntry, Stamp | None]] = field(default_factory=list)


def _stamps(seen: Sequence[ScannedEntry], held: Sequence[SnapshotEntry], stored: _SavedObjects) -> dict[str, Stamp]:
    sure = {item.entry.path: item.stamp for item in seen if item.stamp}
    found = {entry.path: sure[entry.path] for entry in held if entry.path in sure}
    return found | {entry.path: stamp for entry, stamp in stored.files if stamp}


async def _feed(filling: ObjectRestorer, chunk: bytes) -> None:
    await in_thread(lambda: filling.feed(chunk))


async def _single_chunk(content: bytes) -> AsyncIterator[bytes]:
    yield content
