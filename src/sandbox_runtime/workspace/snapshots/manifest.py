"""What a snapshot consists of, and how that is written down. Pure."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.workspace.extents import Extent

_VERSION = 2
_READABLE = (1, _VERSION)
"""Version 1 has no extents: every file was stored with its holes filled."""


class SnapshotEntryKind(enum.StrEnum):
    file = "f"
    folder = "d"
    link = "l"
    name = "n"
    """A further name of a file that has several."""


@dataclass(frozen=True, slots=True)
class SnapshotEntry:
    path: str
    """Absolute, as the program sees it. May hold what is no text, as surrogates."""
    kind: SnapshotEntryKind
    mode: int = 0
    modified_ns: int = 0
    target: str = ""
    """Of a link, where it leads; of a further name, the first one's path."""
    size_bytes: int = 0
    sha256: str = ""
    object: str = ""
    """Which object holds the bytes, from the offset on."""
    offset: int = 0
    extents: tuple[Extent, ...] | None = None
    """Of a file with holes: the ranges that hold data. Only those are stored, one after the other, and digested."""

    @property
    def stored_bytes(self) -> int:
        return self.size_bytes if self.extents is None else sum(length for _, length in self.extents)


@dataclass(frozen=True, slots=True)
class Manifest:
    entries: tuple[SnapshotEntry, ...] = ()
    """Folders before what they hold, first names before further ones."""
    objects: Mapping[str, int] = field(default_factory=dict)
    """Name → size of those that entries refer to."""


def write(manifest: Manifest) -> bytes:
    """A line with the digest of the rest, then JSON."""
    entries = [_written(entry) for entry in manifest.entries]
    found = {"version": _VERSION, "objects": dict(manifest.objects), "entries": entries}
    body = json.dumps(found, separators=(",", ":")).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def read(text: bytes) -> Manifest:
    digest, _, body = text.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise PlatformFault("the manifest of the snapshot is damaged")
    try:
        found = json.loads(body)
        if found["version"] not in _READABLE:
            raise PlatformFault(f"the snapshot was written by a newer version of this program: {found['version']}")
        entries = tuple(_read(entry) for entry in found["entries"])
        return Manifest(entries, {str(name): int(size) for name, size in found["objects"].items()})
    except (ValueError, KeyError, TypeError) as error:
        raise PlatformFault(f"the manifest of the snapshot makes no sense: {error}") from error


def _written(entry: SnapshotEntry) -> list[Any]:
    plain = [
        entry.path,
        entry.kind,
        entry.mode,
        entry.modified_ns,
        entry.target,
        entry.size_bytes,
        entry.sha256,
        entry.object,
        entry.offset,
    ]
    return plain if entry.extents is None else [*plain, [number for extent in entry.extents for number in extent]]


def _read(entry: list[Any]) -> SnapshotEntry:
    path, kind, mode, modified_ns, target, size, sha256, name, offset, *rest = entry
    numbers = rest[0] if rest else None
    extents = None if numbers is None else tuple(zip(numbers[::2], numbers[1::2], strict=True))
    return SnapshotEntry(path, SnapshotEntryKind(kind), mode, modified_ns, target, size, sha256, name, offset, extents)
