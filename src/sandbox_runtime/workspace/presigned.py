"""A file of a session at an address of the storage, for downloads that should not go through the server."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sandbox_runtime.errors import NotFound
from sandbox_runtime.workspace.session_files import SessionFiles
from sandbox_runtime.workspace.storage import Storage


@dataclass(frozen=True, slots=True)
class Shared:
    url: str
    size_bytes: int
    key: str


async def share(files: SessionFiles, name: str, storage: Storage, prefix: str, expires_s: int = 3600) -> Shared | None:
    """Stored below prefix unless it is there already as it is now, and presigned. None where the storage has no addresses: then
    nothing is stored either. Whoever ends the session deletes what lies below prefix."""
    async with files.open(name) as download:
        digest = hashlib.sha256(f"{name}\n{download.entry.etag}".encode()).hexdigest()
        key = f"{prefix}/{digest}"
        url = await storage.presign(key, expires_s, name.rpartition("/")[2])
        if url is None:
            return None
        try:
            await storage.stat(key)
        except NotFound:
            await storage.put(key, download.pieces())
        return Shared(url, download.entry.size_bytes, key)
