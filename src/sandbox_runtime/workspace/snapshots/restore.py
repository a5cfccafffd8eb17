"""An area filled from a manifest: folders, then the bytes of files as they come out of the storage, then links and modes."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.extents import SparseWriter
from sandbox_runtime.workspace.folders import folder, give, make_folders, owner_of, parent
from sandbox_runtime.workspace.openat2 import open_beneath
from sandbox_runtime.workspace.os_errors import show, telling
from sandbox_runtime.workspace.snapshots.manifest import Kept, KeptKind
from sandbox_runtime.workspace.snapshots.pack import place_of

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class Filling:
    """The files of one object, by the object's bytes in order. Those of files that nobody names any more are passed over."""

    def __init__(self, area: Area, files: Iterable[Kept]) -> None:
        self._area = area
        self._owner = owner_of(area)
        self._waiting = sorted(files, key=lambda kept: (kept.offset, kept.offset + kept.stored_bytes), reverse=True)
        self._at = 0
        self._descriptor = -1
        self._writer = SparseWriter(-1, 0, None)
        self._digest = hashlib.sha256()
        self.needed_bytes = max((kept.offset + kept.stored_bytes for kept in self._waiting), default=0)

    def feed(self, piece: bytes) -> None:
        view = memoryview(piece)
        self._finish_empty()
        while view and self._waiting:
            kept = self._waiting[-1]
            if self._at < kept.offset:
                view = self._pass(view, kept.offset - self._at)
                continue
            end = kept.offset + kept.stored_bytes
            part, view = view[: end - self._at], view[end - self._at :]
            self._write(kept, part)
            if self._at == end:
                self._finish(self._waiting.pop())
                self._finish_empty()
        self._at += len(view)

    def _pass(self, view: memoryview, count: int) -> memoryview:
        self._at += min(count, len(view))
        return view[count:]

    def end(self) -> None:
        """Raises PlatformFault where bytes are missing."""
        self._finish_empty()
        if self._waiting:
            raise PlatformFault(f"the snapshot is damaged: bytes of {show(self._waiting[-1].path)} are missing")

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _finish_empty(self) -> None:
        while self._waiting and not self._waiting[-1].stored_bytes:
            kept = self._waiting.pop()
            self._write(kept, memoryview(b""))
            self._finish(kept)

    def _write(self, kept: Kept, part: memoryview) -> None:
        with telling(kept.path, "restored"):
            if self._descriptor < 0:
                self._descriptor = _created(self._area, kept)
                self._writer = SparseWriter(self._descriptor, kept.size_bytes, kept.extents)
                self._digest = hashlib.sha256()
            self._writer.write(part)
        self._digest.update(part)
        self._at += len(part)

    def _finish(self, kept: Kept) -> None:
        if self._digest.hexdigest() != kept.sha256:
            raise PlatformFault(f"the snapshot is damaged: {show(kept.path)} is not what was saved")
        self._writer.finish()
        give(self._descriptor, self._owner, kept.mode)
        os.utime(self._descriptor, ns=(kept.modified_ns, kept.modified_ns))
        self.close()


def _created(area: Area, kept: Kept) -> int:
    """What every area begins with gives way."""
    with parent(area.files_fd, place_of(area, kept.path)) as (folder_fd, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder_fd)
        return open_beneath(folder_fd, name, _CREATE, 0o600)


def make_all_folders(area: Area, entries: Iterable[Kept]) -> None:
    owner = owner_of(area)
    for kept in entries:
        if kept.kind is KeptKind.folder:
            with telling(kept.path, "restored"):
                make_folders(area.files_fd, place_of(area, kept.path).split("/"), owner)


def finish(area: Area, entries: tuple[Kept, ...]) -> None:
    """Links and further names; then folders get their modes and times, inner ones first, when nothing goes into them any more."""
    owner = owner_of(area)
    for kept in entries:
        if kept.kind in (KeptKind.link, KeptKind.name):
            with telling(kept.path, "restored"):
                _link(area, kept, owner)
    for kept in reversed(entries):
        if kept.kind is KeptKind.folder:
            with telling(kept.path, "restored"), folder(area.files_fd, place_of(area, kept.path)) as descriptor:
                give(descriptor, owner, kept.mode)
                os.utime(descriptor, ns=(kept.modified_ns, kept.modified_ns))


def _link(area: Area, kept: Kept, owner: tuple[int, int] | None) -> None:
    with parent(area.files_fd, place_of(area, kept.path)) as (folder_fd, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder_fd)
        if kept.kind is KeptKind.link:
            os.symlink(kept.target, name, dir_fd=folder_fd)
            if owner:
                os.chown(name, *owner, dir_fd=folder_fd, follow_symlinks=False)
            return
        with parent(area.files_fd, place_of(area, kept.target)) as (first_fd, first):
            os.link(first, name, src_dir_fd=first_fd, dst_dir_fd=folder_fd, follow_symlinks=False)
