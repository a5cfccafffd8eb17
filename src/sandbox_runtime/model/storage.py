"""What takes room on a node: kinds, where they lie, bounds, and figures of who holds how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Medium(StrEnum):
    memory = "memory"
    disk = "disk"


class StorageKind(StrEnum):
    session_files = "session_files"
    """Of live sessions, in memory or on the disk."""
    snapshots = "snapshots"
    uploads = "uploads"
    """Archives on their way into a session."""
    batches = "batches"
    """What was sent, and the results."""
    builds = "builds"
    database = "database"
    """Sessions, executions and what they printed."""
    outputs = "outputs"
    """What executions printed that run or ended a moment ago, for those who follow it."""


@dataclass(frozen=True, slots=True)
class StorageLimits:
    """Of the node in total, and of each owner. The owner "" is everybody on a server without keys: the node bounds it.
    free_share: the share of free disk that may be used, where disk_bytes is 0."""

    memory_bytes: int
    disk_bytes: int = 0
    owner_memory_bytes: int = 0
    owner_disk_bytes: int = 0
    owner_batch_bytes: int = 0
    free_share: float = 0.9

    def of(self, medium: Medium) -> int:
        return self.memory_bytes if medium is Medium.memory else self.disk_bytes

    def owner_limit(self, medium: Medium) -> int:
        return self.owner_memory_bytes if medium is Medium.memory else self.owner_disk_bytes


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """What is held of one medium: by everybody, and by one owner. Kinds that hold nothing are left out."""

    medium: Medium
    limit_bytes: int
    held_bytes: int
    by_kind: Mapping[StorageKind, int] = field(default_factory=dict)
    owner_limit_bytes: int = 0
    owner_bytes: int = 0
    owner_by_kind: Mapping[StorageKind, int] = field(default_factory=dict)
