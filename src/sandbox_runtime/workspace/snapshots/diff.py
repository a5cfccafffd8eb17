"""Which files of an area a new snapshot must store, and which the last one holds already."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.snapshots.manifest import Kept, KeptKind, Manifest
from sandbox_runtime.workspace.snapshots.pack import ALONE_BYTES, is_stored
from sandbox_runtime.workspace.snapshots.scan import Seen, Stamp

_MOST_SMALL_OBJECTS = 32
_WORTH_REWRITING_BYTES = MIB


def sort(area: Area, seen: Sequence[Seen], last: Manifest, stamps: Mapping[str, Stamp]) -> tuple[list[Kept], list[Seen]]:
    """Those whose bytes the storage holds, as entries of the new manifest, and those to be stored."""
    before = {kept.path: kept for kept in last.entries if kept.kind is KeptKind.file}
    tired = tired_objects(last)
    held: list[Kept] = []
    changed: list[Seen] = []
    for item in seen:
        if item.kept.kind is not KeptKind.file:
            continue
        kept = before.get(item.kept.path)
        if kept and kept.object not in tired and _same(area, item, kept, stamps.get(kept.path)):
            where = dataclasses.replace(kept, mode=item.kept.mode, modified_ns=item.kept.modified_ns)
            held.append(where)
        else:
            changed.append(item)
    return held, changed


def _same(area: Area, item: Seen, kept: Kept, stamp: Stamp | None) -> bool:
    """By its stamp where that is sure; otherwise it is read, which costs less than to store it again."""
    if item.kept.size_bytes != kept.size_bytes:
        return False
    return (item.stamp is not None and item.stamp == stamp) or is_stored(area, kept)


def tired_objects(manifest: Manifest) -> set[str]:
    """Objects to be stored anew: those of which most is of no use any more, and small ones when they have become many."""
    used: Counter[str] = Counter()
    for kept in manifest.entries:
        if kept.kind is KeptKind.file:
            used[kept.object] += kept.stored_bytes
    tired = {name for name, size in manifest.objects.items() if size - used[name] > max(used[name], _WORTH_REWRITING_BYTES)}
    small = {name for name, size in manifest.objects.items() if size < ALONE_BYTES}
    return tired | small if len(small) > _MOST_SMALL_OBJECTS else tired


def entries(seen: Sequence[Seen], files: Mapping[str, Kept]) -> Iterator[Kept]:
    """All of it in order, files with their whereabouts; without those that were gone when they were to be read."""
    for item in seen:
        if item.kept.kind is KeptKind.file:
            if found := files.get(item.kept.path):
                yield found
        elif item.kept.kind is not KeptKind.name or item.kept.target in files:
            yield item.kept
