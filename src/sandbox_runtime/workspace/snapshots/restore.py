"""An area filled from a manifest: folders, then the bytes of files as they come out of the storage, then links and modes."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.extents import SparseWriter
from sandbox_runtime.workspace.folders import folder, make_folders, owner_of, parent, set_owner_and_mode
from sandbox_runtime.workspace.os_errors import show_name, translate_os_errors
from sandbox_runtime.workspace.snapshots.manifest import SnapshotEntry, SnapshotEntryKind
from sandbox_runtime.workspace.snapshots.pack import resolve_scanned
from sandbox_runtime.workspace.syscalls import open_beneath

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class ObjectRestorer:
    """The files of one object, by the object's bytes in order. Those of files that nobody names any more are passed over."""

    def __init__(self, area: Area, files: Iterable[SnapshotEntry]) -> None:
        self._area = area
        self._owner = owner_of(area)
        self._waiting = sorted(files, key=lambda entry: (entry.offset, entry.offset + entry.stored_bytes), reverse=True)
        self._at = 0
        self._descriptor = -1
        self._writer = SparseWriter(-1, 0, None)
        self._digest = hashlib.sha256()
        self.needed_bytes = max((entry.offset + entry.stored_bytes for entry in self._waiting), default=0)

    def feed(self, chunk: bytes) -> None:
        view = memoryview(chunk)
        self._finish_empty()
        while view and self._waiting:
            entry = self._waiting[-1]
            if self._at < entry.offset:
                view = self._pass(view, entry.offset - self._at)
                continue
            end = entry.offset + entry.stored_bytes
            part, view = view[: end - self._at], view[end - self._at :]
            self._write(entry, part)
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
            raise PlatformFault(f"the snapshot is damaged: bytes of {show_name(self._waiting[-1].path)} are missing")

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _finish_empty(self) -> None:
        while self._waiting and not self._waiting[-1].stored_bytes:
            entry = self._waiting.pop()
            self._write(entry, memoryview(b""))
            self._finish(entry)

    def _write(self, entry: SnapshotEntry, part: memoryview) -> None:
        with translate_os_errors(entry.path, "restored"):
            if self._descriptor < 0:
                self._descriptor = _create_file(self._area, entry)
                self._writer = SparseWriter(self._descriptor, entry.size_bytes, entry.extents)
                self._digest = hashlib.sha256()
            self._writer.write(part)
        self._digest.update(part)
        self._at += len(part)

    def _finish(self, entry: SnapshotEntry) -> None:
        if self._digest.hexdigest() != entry.sha256:
            raise PlatformFault(f"the snapshot is damaged: {show_name(entry.path)} is not what was saved")
        self._writer.finish()
        set_owner_and_mode(self._descriptor, self._owner, entry.mode)
        os.utime(self._descriptor, ns=(entry.modified_ns, entry.modified_ns))
        self.close()


def _create_file(area: Area, entry: SnapshotEntry) -> int:
    """What every area begins with gives way."""
    with parent(area.files_fd, resolve_scanned(area, entry.path)) as (folder_fd, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder_fd)
        return open_beneath(folder_fd, name, _CREATE, 0o600)


def make_all_folders(area: Area, entries: Iterable[SnapshotEntry]) -> None:
    owner = owner_of(area)
    for entry in entries:
        if entry.kind is SnapshotEntryKind.folder:
            with translate_os_errors(entry.path, "restored"):
                make_folders(area.files_fd, resolve_scanned(area, entry.path).split("/"), owner)


def finish(area: Area, entries: tuple[SnapshotEntry, ...]) -> None:
    """Links and further names; then folders get their modes and times, inner ones first, when nothing goes into them any more."""
    owner = owner_of(area)
    for entry in entries:
        if entry.kind in (SnapshotEntryKind.link, SnapshotEntryKind.name):
            with translate_os_errors(entry.path, "restored"):
                _link(area, entry, owner)
    for entry in reversed(entries):
        if entry.kind is SnapshotEntryKind.folder:
            with (
                translate_os_errors(entry.path, "restored"),
                folder(area.files_fd, resolve_scanned(area, entry.path)) as descriptor,
            ):
                set_owner_and_mode(descriptor, owner, entry.mode)
                os.utime(descriptor, ns=(entry.modified_ns, entry.modified_ns))


def _link(area: Area, entry: SnapshotEntry, owner: tuple[int, int] | None) -> None:
    with parent(area.files_fd, resolve_scanned(area, entry.path)) as (folder_fd, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder_fd)
        if entry.kind is SnapshotEntryKind.link:
            os.symlink(entry.target, name, dir_fd=folder_fd)
            if owner:
                os.chown(name, *owner, dir_fd=folder_fd, follow_symlinks=False)
            return
        with parent(area.files_fd, resolve_scanned(area, entry.target)) as (first_fd, first):
            os.link(first, name, src_dir_fd=first_fd, dst_dir_fd=folder_fd, follow_symlinks=False)
