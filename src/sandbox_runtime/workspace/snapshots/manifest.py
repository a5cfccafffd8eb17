"""What a snapshot consists of, and how that is written down. Pure."""

from __future__ import annotations

import enum
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_runtime.errors import PlatformFault

_VERSION = 1


class KeptKind(enum.StrEnum):
    file = "f"
    folder = "d"
    link = "l"
    name = "n"
    """A further name of a file that has several."""


@dataclass(frozen=True, slots=True)
class Kept:
    path: str
    """Absolute, as the program sees it. May hold what is no text, as surrogates."""
    kind: KeptKind
    mode: int = 0
    modified_ns: int = 0
    target: str = ""
    """Of a link, where it leads; of a further name, the first one's path."""
    size_bytes: int = 0
    sha256: str = ""
    object: str = ""
    """Which object holds the bytes, from the offset on."""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    entries: tuple[Kept, ...] = ()
    """Folders before what they hold, first names before further ones."""
    objects: Mapping[str, int] = field(default_factory=dict)
    """Name → size of those that entries refer to."""


def write(manifest: Manifest) -> bytes:
    """A line with the digest of the rest, then JSON."""
    entries = [
        [kept.path, kept.kind, kept.mode, kept.modified_ns, kept.target, kept.size_bytes, kept.sha256, kept.object, kept.offset]
        for kept in manifest.entries
    ]
    found = {"version": _VERSION, "objects": dict(manifest.objects), "entries": entries}
    body = json.dumps(found, separators=(",", ":")).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def read(text: bytes) -> Manifest:
    digest, _, body = text.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise PlatformFault("the manifest of the snapshot is damaged")
    try:
        found = json.loads(body)
        if found["version"] != _VERSION:
            raise PlatformFault(f"the snapshot was written by a newer version of this program: {found['version']}")
        entries = tuple(Kept(path, KeptKind(kind), *rest) for path, kind, *rest in found["entries"])
        return Manifest(entries, {str(name): int(size) for name, size in found["objects"].items()})
    except (ValueError, KeyError, TypeError) as error:
        raise PlatformFault(f"the manifest of the snapshot makes no sense: {error}") from error
