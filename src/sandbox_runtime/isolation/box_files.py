"""A writable area that several boxes share, held by two descriptors."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping

from sandbox_runtime.errors import Conflict, Unavailable
from sandbox_runtime.isolation.box import InitBox


class SharedFiles:
    """Files shared by boxes.

    uid: the host user of every box that uses the files; None if the server cannot assign users.
    no_pause: why the boxes cannot be paused; empty if they can.
    """

    def __init__(self, workdir: str, writable: Mapping[str, str], uid: int | None, no_pause: str = "") -> None:
        self.workdir = workdir
        self.writable = writable
        self.uid = uid
        self.no_pause = no_pause
        self.files_fd = -1
        self.namespace_fd = -1
        self.on_close: list[Callable[[], object]] = []
        self._boxes: set[InitBox] = set()
        self._paused = False
        self._closed = False

    def set_descriptors(self, files_fd: int, namespace_fd: int) -> None:
        self.files_fd, self.namespace_fd = files_fd, namespace_fd

    def add_box(self, box: InitBox) -> None:
        if self._closed:
            raise Conflict("these files are closed")
        self._boxes.add(box)
        box.on_close.append(lambda: self._boxes.discard(box))

    async def pause_if_paused(self, box: InitBox) -> None:
        """Pause a box that was opened while the others are paused, before anything runs in it."""
        if self._paused:
            await box.pause()

    async def pause(self) -> None:
        if self.no_pause:
            raise Unavailable(f"boxes cannot be paused here: {self.no_pause}")
        self._paused = True
        try:
            await asyncio.gather(*(box.pause() for box in list(self._boxes)))
        except BaseException:
            self.resume()
            raise

    def resume(self) -> None:
        self._paused = False
        for box in list(self._boxes):
            box.resume()

    def usage(self) -> tuple[int, int]:
        area = os.fstatvfs(self.files_fd)
        return (area.f_blocks - area.f_bfree) * area.f_frsize, area.f_files - area.f_ffree

    async def close(self) -> None:
        """Close the boxes first: their user may be reused only when none of its processes is left."""
        if self._closed:
            return
        self._closed = True
        try:
            await asyncio.gather(*(box.close() for box in list(self._boxes)))
        finally:
            for descriptor in (self.files_fd, self.namespace_fd):
                if descriptor >= 0:
                    os.close(descriptor)
            self.files_fd = self.namespace_fd = -1
            while self.on_close:
                self.on_close.pop()()
