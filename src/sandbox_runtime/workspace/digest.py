"""One digest of all that programs of a box can write: the same digest, the same names, kinds, modes and bytes.

Times are not in it. Files that have not changed since the last look, which the kernel's change time proves, are not read again.
"""

from __future__ import annotations

import hashlib

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.snapshots.manifest import KeptKind
from sandbox_runtime.workspace.snapshots.pack import digest_of
from sandbox_runtime.workspace.snapshots.scan import Seen, Stamp, survey

MOST_NAMES = 2000
MOST_BYTES = 64 * MIB
Digests = dict[str, tuple[Stamp, str]]
"""Path → its stamp, and the digest of its bytes at that time."""


def digest_area(area: Area, known: Digests) -> str:
    """known is brought up to date. Raises InvalidRequest where there are more names, or more bytes, than are looked at."""
    seen = survey(area, sorted(area.writable), MOST_NAMES)
    if sum(item.kept.size_bytes for item in seen) > MOST_BYTES:
        raise InvalidRequest(f"the files have more than {MOST_BYTES} bytes together, which is as many as are compared")
    whole, fresh = hashlib.sha256(), Digests()
    for item in seen:
        content = _content(area, item, known, fresh)
        line = f"{item.kept.path}\0{item.kept.kind}\0{item.kept.mode}\0{item.kept.target}\0{content}\n"
        whole.update(line.encode(errors="surrogatepass"))
    known.clear()
    known.update(fresh)
    return whole.hexdigest()


def _content(area: Area, item: Seen, known: Digests, fresh: Digests) -> str:
    if item.kept.kind is not KeptKind.file:
        return ""
    stamp, digest = known.get(item.kept.path, (None, ""))
    if item.stamp is None or item.stamp != stamp:
        digest = digest_of(area, item.kept) or "changing"
    if item.stamp is not None:
        fresh[item.kept.path] = (item.stamp, digest)
    return digest
