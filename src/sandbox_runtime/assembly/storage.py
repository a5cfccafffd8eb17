"""What the settings mean for the storage ledger, and what it tells the metrics."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from sandbox_runtime.model import Medium, StorageKind, StorageLimits
from sandbox_runtime.settings import Settings
from sandbox_runtime.store.address import SQLITE, read_address
from sandbox_runtime.telemetry import Metrics
from sandbox_runtime.workspace.ledger import Ledger

Gauges = dict[tuple[str, ...], Callable[[], float]]


def ledger_of(settings: Settings) -> Ledger:
    return Ledger(limits_of(settings), lambda: free_bytes(settings.kept_dir))


def limits_of(settings: Settings) -> StorageLimits:
    return StorageLimits(
        memory_bytes=settings.storage_memory_bytes,
        disk_bytes=settings.storage_disk_bytes,
        owner_memory_bytes=settings.storage_owner_memory_bytes,
        owner_disk_bytes=settings.storage_owner_disk_bytes,
        owner_batch_bytes=settings.batch_max_owner_bytes,
    )


def free_bytes(folder: str) -> int:
    """Return what a plain user could still write to the disk that holds the folder, or will hold it."""
    path = Path(folder)
    while not path.exists() and path != path.parent:
        path = path.parent
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def watch_database(ledger: Ledger, url: str) -> None:
    """Charge the file of the embedded database; one that is served elsewhere takes nothing here."""
    address = read_address(url)
    if address.family == SQLITE:
        path = str(address.file)
        ledger.observe(StorageKind.database, lambda: sum(map(_size, (path, f"{path}-wal", f"{path}-shm"))))


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.stat(path).st_size
    return 0


def watch_ledger(metrics: Metrics, ledger: Ledger) -> None:
    held: Gauges = {(medium.value, kind.value): _held(ledger, medium, kind) for medium in Medium for kind in StorageKind}
    metrics.watch_all("sandbox_storage_bytes", "Memory and disk that is held, by kind", ("medium", "kind"), held)
    limits: Gauges = {(medium.value,): _limit(ledger, medium) for medium in Medium}
    metrics.watch_all("sandbox_storage_limit_bytes", "Memory and disk that may be held", ("medium",), limits)


def _held(ledger: Ledger, medium: Medium, kind: StorageKind) -> Callable[[], float]:
    return lambda: ledger.held(medium, kind)


def _limit(ledger: Ledger, medium: Medium) -> Callable[[], float]:
    return lambda: ledger.limit(medium)
