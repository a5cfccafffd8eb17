"""Which files of an area a new snapshot must store, and which the last one holds already."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.snapshots.manifest import Manifest, SnapshotEntry, SnapshotEntryKind
from sandbox_runtime.workspace.snapshots.pack import ALONE_BYTES, is_stored
from sandbox_runtime.workspace.snapshots.scan import ScannedEntry, Stamp

_MAX_SMALL_OBJECTS = 32
_WORTH_REWRITING_BYTES = MIB


def sort(
    area: Area, seen: Sequence[ScannedEntry], last: Manifest, stamps: Mapping[str, Stamp]
) -> tuple[list[SnapshotEntry], list[ScannedEntry]]:
    """Those whose bytes the storage holds, as entries of the new manifest, and those to be stored."""
    before = {entry.path: entry for entry in last.entries if entry.kind is SnapshotEntryKind.file}
    wasteful = wasteful_objects(last)
    held: list[SnapshotEntry] = []
    changed: list[ScannedEntry] = []
    for item in seen:
        if item.entry.kind is not SnapshotEntryKind.file:
            continue
        entry = before.get(item.entry.path)
        if entry and entry.object not in wasteful and _same(area, item, entry, stamps.get(entry.path)):
            where = dataclasses.replace(entry, mode=item.entry.mode, modified_ns=item.entry.modified_ns)
            held.append(where)
        else:
            changed.append(item)
    return held, changed


def _same(area: Area, item: ScannedEntry, entry: SnapshotEntry, stamp: Stamp | None) -> bool:
    """By its stamp where that is sure; otherwise it is read, which costs less than to store it again."""
    if item.entry.size_bytes != entry.size_bytes:
        return False
    return (item.stamp is not None and item.stamp == stamp) or is_stored(area, entry)


def wasteful_objects(manifest: Manifest) -> set[str]:
    """Objects to be stored anew: those of which most is of no use any more, and small ones when they have become many."""
    used: Counter[str] = Counter()
    for entry in manifest.entries:
        if entry.kind is SnapshotEntryKind.file:
            used[entry.object] += entry.stored_bytes
    wasteful = {name for name, size in manifest.objects.items() if size - used[name] > max(used[name], _WORTH_REWRITING_BYTES)}
    small = {name for name, size in manifest.objects.items() if size < ALONE_BYTES}
    return wasteful | small if len(small) > _MAX_SMALL_OBJECTS else wasteful


def entries(seen: Sequence[ScannedEntry], files: Mapping[str, SnapshotEntry]) -> Iterator[SnapshotEntry]:
    """All of it in order, files with their whereabouts; without those that were gone when they were to be read."""
    for item in seen:
        if item.entry.kind is SnapshotEntryKind.file:
            if found := files.get(item.entry.path):
                yield found
        elif item.entry.kind is not SnapshotEntryKind.name or item.entry.target in files:
            yield item.entry
