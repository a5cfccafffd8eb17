"""Files out of a box: regular files only, each bounded while it is read. What is missing or something else is simply absent."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_runtime.model import File
from sandbox_runtime.workspace.area import Area, Quotas, resolve
from sandbox_runtime.workspace.syscalls import open_beneath

_CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FetchResult:
    """skipped tells of files that are there but over a bound: name and reason."""

    files: tuple[File, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()


def fetch(area: Area, names: Sequence[str], quotas: Quotas) -> FetchResult:
    """The files by the names they were asked for, in that order."""
    files: list[File] = []
    skipped: list[tuple[str, str]] = []
    left = quotas.max_total_bytes
    for name in dict.fromkeys(names):
        if len(files) >= quotas.max_files:
            skipped.append((name, f"more than {quotas.max_files} files were asked for"))
            continue
        bound = min(quotas.max_file_bytes, left)
        content = _read(area.files_fd, resolve(area, name), bound)
        if content is None:
            continue
        if len(content) > bound:
            skipped.append((name, f"larger than the {bound} bytes that may still be fetched"))
            continue
        files.append(File(name, content))
        left -= len(content)
    return FetchResult(tuple(files), tuple(skipped))


def _read(files_fd: int, path: str, bound: int) -> bytes | None:
    """At most bound + 1 bytes: the one too many tells that the file is larger, however fast it grows."""
    try:
        descriptor = open_beneath(files_fd, path, os.O_RDONLY)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return read_up_to(descriptor, bound + 1)
    finally:
        os.close(descriptor)


def read_up_to(descriptor: int, max_bytes: int) -> bytes:
    chunks: list[bytes] = []
    while max_bytes > 0 and (chunk := os.read(descriptor, min(max_bytes, _CHUNK_BYTES))):
        chunks.append(chunk)
        max_bytes -= len(chunk)
    return b"".join(chunks)
