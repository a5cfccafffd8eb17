"""One digest of all that programs of a box can write: the same digest, the same names, kinds, modes and bytes.

Times are not in it. Files that have not changed since the last look, which the kernel's change time proves, are not read again.
"""

from __future__ import annotations

import hashlib

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.snapshots.manifest import SnapshotEntryKind
from sandbox_runtime.workspace.snapshots.pack import digest_of
from sandbox_runtime.workspace.snapshots.scan import ScannedEntry, Stamp, scan_area

MAX_NAMES = 2000
MAX_BYTES = 64 * MIB
Digests = dict[str, tuple[Stamp, str]]
"""Path → its stamp, and the digest of its bytes at that time."""


def digest_area(area: Area, known: Digests) -> str:
    """known is brought up to date. Raises InvalidRequest where there are more names, or more bytes, than are looked at."""
    seen = scan_area(area, sorted(area.writable), MAX_NAMES)
    if sum(item.entry.size_bytes for item in seen) > MAX_BYTES:
        raise InvalidRequest(f"the files have more than {MAX_BYTES} bytes together, which is as many as are compared")
    whole, fresh = hashlib.sha256(), Digests()
    for item in seen:
        content = _content(area, item, known, fresh)
        line = f"{item.entry.path}\0{item.entry.kind}\0{item.entry.mode}\0{item.entry.target}\0{content}\n"
        whole.update(line.encode(errors="surrogatepass"))
    known.clear()
    known.update(fresh)
    return whole.hexdigest()


def _content(area: Area, item: ScannedEntry, known: Digests, fresh: Digests) -> str:
    if item.entry.kind is not SnapshotEntryKind.file:
        return ""
    stamp, digest = known.get(item.entry.path, (None, ""))
    if item.stamp is None or item.stamp != stamp:
        digest = digest_of(area, item.entry) or "changing"
    if item.stamp is not None:
        fresh[item.entry.path] = (item.stamp, digest)
    return digest
