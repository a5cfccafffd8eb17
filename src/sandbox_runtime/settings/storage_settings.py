"""Settings of the storage ledger: limits of memory and disk, for the node and for each owner."""

from __future__ import annotations

import os
from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting

MIB, GIB = 1024**2, 1024**3
_MAX_BYTES = 1024 * 1024 * GIB


def _half_of_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


@dataclass(frozen=True, kw_only=True)
class StorageSettings:
    storage_memory_bytes: int = setting(
        _half_of_memory,
        "bytes",
        "Memory that the files of all sessions together may use.",
        "storage",
        low=16 * MIB,
        high=_MAX_BYTES,
        default_text="half of the machine's memory",
    )
    storage_disk_bytes: int = setting(
        0,
        "bytes",
        "Disk space that may be used: snapshots, session files on disk, uploads, batches, the build cache and the "
        "database. 0: what is used now plus 90 % of the free space.",
        "storage",
        low=0,
        high=_MAX_BYTES,
    )
    storage_owner_memory_bytes: int = setting(
        0, "bytes", "The same memory limit for one owner of keys. 0: half of the node's.", "storage", low=0, high=_MAX_BYTES
    )
    storage_owner_disk_bytes: int = setting(
        0, "bytes", "The same disk limit for one owner of keys. 0: half of the node's.", "storage", low=0, high=_MAX_BYTES
    )
    session_memory_files_bytes: int = setting(
        GIB,
        "bytes",
        "Sessions with a disk limit up to this size keep their files in memory. Larger ones keep them on disk if the "
        "server runs as root and the kernel has loop devices, otherwise in memory too.",
        "sessions",
        low=0,
        high=1024 * GIB,
    )
