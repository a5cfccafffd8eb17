"""Artifacts: files that an execution created or changed in the workspace.

Few files are scanned in place, which is faster than a thread; many files, and files that must be read, are left to a thread.
"""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
import os
import stat
from collections.abc import Mapping

from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import Artifact, ArtifactKind
from sandbox_runtime.sessions import ids
from sandbox_runtime.workspace import Area, resolve
from sandbox_runtime.workspace.listing import EntryKind, list_folder
from sandbox_runtime.workspace.syscalls import open_beneath

MAX_ARTIFACTS = 1000
MAX_HASHED_BYTES = 64 * 1024**2
"""Bytes read for checksums in one execution. Files beyond that have no checksum."""
MAX_INLINE_FILES = 128
"""More files are scanned in a thread."""
_CHUNK_BYTES = 1024**2
_KINDS = {"output": ArtifactKind.output, "logs": ArtifactKind.log}


async def scan(area: Area) -> dict[str, str]:
    """Return the etag of each file by name. Hidden files are not artifacts."""
    return _etags(area) if _has_few_files(area) else await asyncio.to_thread(_etags, area)


async def collect(area: Area, before: Mapping[str, str], execution: str, now_ms: int) -> tuple[Artifact, ...]:
    """Return the files that changed since the scan `before`."""
    new = [name for name, etag in (await scan(area)).items() if before.get(name) != etag][:MAX_ARTIFACTS]
    return tuple(await asyncio.to_thread(_to_artifacts, area, new, execution, now_ms)) if new else ()


def _has_few_files(area: Area) -> bool:
    """Whether the file system counts few files; False if it does not count."""
    usage = os.fstatvfs(area.files_fd)
    return usage.f_files > 0 and usage.f_files - usage.f_ffree <= MAX_INLINE_FILES


def _etags(area: Area) -> dict[str, str]:
    try:
        entries = list_folder(area, recursive=True, hidden=False, limit=10 * MAX_ARTIFACTS).entries
    except SandboxError:
        return {}
    return {entry.name: entry.etag for entry in entries if entry.kind is EntryKind.file and entry.nameable}


def _to_artifacts(area: Area, names: list[str], execution: str, now_ms: int) -> list[Artifact]:
    budget = MAX_HASHED_BYTES
    artifacts = []
    for name in names:
        size, checksum = _measure(area, name, budget)
        if size is None:
            continue
        budget -= size if checksum else 0
        artifacts.append(
            Artifact(
                id=ids.artifact_id(),
                execution=execution,
                kind=_KINDS.get(name.partition("/")[0], ArtifactKind.artifact) if "/" in name else ArtifactKind.artifact,
                path=name,
                location=f"{area.workdir}/{name}",
                size_bytes=size,
                content_type=mimetypes.guess_type(name)[0] or "application/octet-stream",
                checksum=checksum,
                created_ms=now_ms,
            )
        )
    return artifacts


def _measure(area: Area, name: str, budget: int) -> tuple[int | None, str]:
    try:
        descriptor = open_beneath(area.files_fd, resolve(area, name), os.O_RDONLY)
    except (OSError, SandboxError):
        return None, ""
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None, ""
        return status.st_size, _checksum(descriptor, status.st_size) if status.st_size <= budget else ""
    finally:
        os.close(descriptor)


def _checksum(descriptor: int, size: int) -> str:
    digest = hashlib.sha256()
    while size > 0 and (piece := os.read(descriptor, min(size, _CHUNK_BYTES))):
        digest.update(piece)
        size -= len(piece)
    return f"sha256:{digest.hexdigest()}"
