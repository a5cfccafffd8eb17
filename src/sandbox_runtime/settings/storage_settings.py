"""The knobs of the storage ledger: how much memory and disk of the node may be held, in total and by each owner."""

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
        "Memory that files of sessions may take, all sessions together.",
        "storage",
        low=16 * MIB,
        high=_MAX_BYTES,
        default_text="half of the machine's memory",
    )
    storage_disk_bytes: int = setting(
        0,
        "bytes",
        "Disk that may be held: snapshots, session files on the disk, uploads, batches, the build cache and the database. "
        "0: what is held already and 90 % of what is free.",
        "storage",
        low=0,
        high=_MAX_BYTES,
    )
    storage_owner_memory_bytes: int = setting(
        0, "bytes", "The same memory, for one owner of keys. 0: half of the node's.", "storage", low=0, high=_MAX_BYTES
    )
    storage_owner_disk_bytes: int = setting(
        0, "bytes", "The same disk, for one owner of keys. 0: half of the node's.", "storage", low=0, high=_MAX_BYTES
    )
    session_memory_files_bytes: int = setting(
        GIB,
        "bytes",
        "Largest disk limit of a session whose files are kept in memory. Files of a session with more are on the disk, where the "
        "server runs as root and the kernel has loop devices; elsewhere they are in memory too.",
        "sessions",
        low=0,
        high=1024 * GIB,
    )
