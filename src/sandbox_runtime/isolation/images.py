"""Session files on disk: a fixed-size ext4 file system in a sparse file, which acts as a quota.

The file occupies only what is written to it, and deleted data is returned to the disk. It never has a name, so its space is
free again when the area is closed or the server ends in any way.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.kernel import loop_device
from sandbox_runtime.model import Medium
from sandbox_runtime.quantities import MIB

KIND = "ext4"
_MKFS = "mkfs.ext4"
_SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
_INODE_BYTES = 256
_RESERVED_INODES = 16
_MKFS_TIMEOUT_S = 30.0
_OVERHEAD = 48


class DiskImages:
    """Creates and mounts images.

    folder: where images are created.
    memory_bytes: areas up to this size are kept in memory; None keeps all in memory.
    """

    def __init__(self, folder: str, memory_bytes: int | None) -> None:
        self._folder = folder
        self._memory_bytes = memory_bytes
        self._mkfs = shutil.which(_MKFS, path=_SYSTEM_PATH)

    @property
    def unavailable_reason(self) -> str:
        """Why areas cannot be on disk here; empty if they can."""
        if not self._folder or self._memory_bytes is None:
            return "it is disabled"
        if os.geteuid() != 0:
            return "only root can mount disk file systems"
        if self._mkfs is None:
            return f"{_MKFS} is not installed: apt install e2fsprogs"
        return (
            ""
            if os.access(loop_device.CONTROL, os.W_OK)
            else f"{loop_device.CONTROL} is not writable: load the kernel module loop"
        )

    def medium(self, disk_bytes: int) -> Medium:
        if self._memory_bytes is None or disk_bytes <= self._memory_bytes or self.unavailable_reason:
            return Medium.memory
        return Medium.disk

    async def mount_new(self, disk_bytes: int, disk_files: int) -> int:
        """Create an image of that size and return a descriptor of its mount. Raises PlatformFault."""
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            descriptor = os.open(self._folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise PlatformFault(f"cannot create session files in {self._folder}: {error.strerror}") from error
        try:
            os.ftruncate(descriptor, _image_bytes(disk_bytes, disk_files))
            await self._make_file_system(descriptor, disk_files)
            return await asyncio.to_thread(loop_device.mount_image, descriptor, KIND)
        except OSError as error:
            raise PlatformFault(f"cannot create session files on disk: {error}") from error
        finally:
            os.close(descriptor)

    async def _make_file_system(self, descriptor: int, disk_files: int) -> None:
        """Create the file system without a journal: its content does not outlive the server."""
        assert self._mkfs is not None
        options = ["-q", "-F", "-O", "^has_journal", "-m", "0", "-b", "4096", "-I", str(_INODE_BYTES)]
        options += ["-N", str(disk_files + _RESERVED_INODES), "-E", "lazy_itable_init=1,nodiscard"]
        process = await asyncio.create_subprocess_exec(
            self._mkfs,
            *options,
            f"/proc/self/fd/{descriptor}",
            pass_fds=(descriptor,),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_MKFS_TIMEOUT_S):
                _, stderr = await process.communicate()
        except TimeoutError as error:
            raise PlatformFault(f"{_MKFS} did not finish within {_MKFS_TIMEOUT_S:g} s") from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            raise PlatformFault(f"{_MKFS} failed: {stderr.decode(errors='replace')[:200]}")


def _image_bytes(disk_bytes: int, disk_files: int) -> int:
    """Return the size of the area plus the overhead of ext4: inode tables, bitmaps and reserve."""
    return disk_bytes + disk_files * _INODE_BYTES + disk_bytes // _OVERHEAD + 4 * MIB
