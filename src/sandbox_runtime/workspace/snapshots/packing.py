"""Files gathered into objects: many small ones in one, a large one alone. Where each lies is noted while its bytes stream."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import os
import stat
from collections.abc import Generator, Iterator, Sequence

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.folders import opened
from sandbox_runtime.workspace.refusals import show
from sandbox_runtime.workspace.snapshots.manifest import Kept
from sandbox_runtime.workspace.snapshots.surveying import Seen, Stamp, stamp_of
from sandbox_runtime.workspace.threads import bundled

ALONE_BYTES = 4 * MIB
_TOGETHER_BYTES = 16 * MIB
_PIECE_BYTES = 256 * 1024
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EXDEV)


def groups(files: Sequence[Seen]) -> Iterator[list[Seen]]:
    """Each of them becomes an object."""
    gathered: list[Seen] = []
    size = 0
    for seen in files:
        if seen.kept.size_bytes >= ALONE_BYTES:
            yield [seen]
            continue
        if size + seen.kept.size_bytes > _TOGETHER_BYTES:
            yield gathered
            gathered, size = [], 0
        gathered.append(seen)
        size += seen.kept.size_bytes
    if gathered:
        yield gathered


class Packing:
    """One object on its way into the storage. Afterwards, placed tells what lies where."""

    def __init__(self, area: Area, name: str, files: Sequence[Seen]) -> None:
        self._area = area
        self._name = name
        self._files = files
        self.placed: list[tuple[Kept, Stamp | None]] = []
        self.size_bytes = 0

    def pieces(self) -> Generator[bytes, None, None]:
        yield from bundled((piece for seen in self._files for piece in self._file(seen)), _PIECE_BYTES)

    def _file(self, seen: Seen) -> Generator[bytes, None, None]:
        """What is gone, or no plain file any more, is left out; of one that grows, the bytes it had."""
        try:
            with opened(self._area.files_fd, place_of(self._area, seen.kept.path), os.O_RDONLY) as descriptor:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    yield from self._content(seen, descriptor)
        except OSError as error:
            if error.errno not in _GONE:
                raise

    def _content(self, seen: Seen, descriptor: int) -> Generator[bytes, None, None]:
        digest, start, offset = hashlib.sha256(), self.size_bytes, 0
        while piece := os.pread(descriptor, min(_PIECE_BYTES, seen.kept.size_bytes - offset), offset):
            digest.update(piece)
            offset += len(piece)
            self.size_bytes += len(piece)
            yield piece
        same = seen.stamp if stamp_of(os.fstat(descriptor)) == seen.stamp else None
        kept = dataclasses.replace(seen.kept, size_bytes=offset, sha256=digest.hexdigest(), object=self._name, offset=start)
        self.placed.append((kept, same))


def digest_of(area: Area, kept: Kept) -> str:
    """Of what a file holds now; empty where it is none, or has another size."""
    try:
        with opened(area.files_fd, place_of(area, kept.path), os.O_RDONLY) as descriptor:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size != kept.size_bytes:
                return ""
            return _digest(descriptor, kept.size_bytes)
    except OSError:
        return ""


def _digest(descriptor: int, size: int) -> str:
    digest, offset = hashlib.sha256(), 0
    while piece := os.pread(descriptor, min(_PIECE_BYTES, size - offset), offset):
        digest.update(piece)
        offset += len(piece)
    return digest.hexdigest()


def place_of(area: Area, path: str) -> str:
    """As area.place, for names that a walk has found: they may be no text."""
    folders = [folder for folder in area.writable if path.startswith(f"{folder}/")]
    if not folders:
        raise PlatformFault(f"the snapshot holds {show(path)}, which lies in no folder that this box has")
    folder = max(folders, key=len)
    return f"{area.writable[folder]}{path[len(folder) :]}"
