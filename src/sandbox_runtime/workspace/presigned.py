"""A file of a session at an address of the storage, for downloads that should not go through the server."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sandbox_runtime.errors import NotFound
from sandbox_runtime.workspace.session_files import SessionFiles
from sandbox_runtime.workspace.storage import Storage


@dataclass(frozen=True, slots=True)
class PresignedFile:
    url: str
    size_bytes: int
    key: str


async def presign_file(
    files: SessionFiles, name: str, storage: Storage, prefix: str, expires_s: int = 3600
) -> PresignedFile | None:
    """Store the file below prefix unless it is stored already, and return its presigned URL.

    Returns None, and stores nothing, if the storage has no URLs. Ending the session must delete everything below prefix.
    """
    async with files.open(name) as download:
        digest = hashlib.sha256(f"{name}\n{download.entry.etag}".encode()).hexdigest()
        key = f"{prefix}/{digest}"
        url = await storage.presign(key, expires_s, name.rpartition("/")[2])
        if url is None:
            return None
        try:
            await storage.stat(key)
        except NotFound:
            await storage.put(key, download.chunks())
        return PresignedFile(url, download.entry.size_bytes, key)
