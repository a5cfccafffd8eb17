"""What the settings mean for the storage ledger, and what it tells the metrics."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable
from pathlib import Path

from sandbox_runtime.isolation.images import DiskImages
from sandbox_runtime.model import Medium, StorageKind, StorageLimits
from sandbox_runtime.quantities import show_bytes
from sandbox_runtime.settings import Settings
from sandbox_runtime.store.address import SQLITE, parse_address
from sandbox_runtime.telemetry import Metrics
from sandbox_runtime.workspace.ledger import Ledger

Gauges = dict[tuple[str, ...], Callable[[], float]]


def ledger_of(settings: Settings) -> Ledger:
    return Ledger(limits_of(settings), lambda: free_bytes(settings.data_dir))


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


def facts_of(settings: Settings) -> dict[str, str]:
    """Return what may be held here, and what lies on the disk now, as an operator reads it. Walks the folders."""
    ledger, images = ledger_of(settings), DiskImages(f"{settings.data_dir}/areas", settings.session_memory_files_bytes)
    watch_database(ledger, settings.store_url)
    folders = {
        StorageKind.snapshots: settings.files_dir,
        StorageKind.batches: settings.batches_dir,
        StorageKind.builds: settings.builds_dir,
    }
    for kind, folder in folders.items():
        ledger.observe(kind, functools.partial(_folder_bytes, folder))
    ledger.refresh()
    memory, disk = ledger.usage(Medium.memory), ledger.usage(Medium.disk)
    held = ", ".join(f"{kind.replace('_', ' ')} {show_bytes(size)}" for kind, size in disk.by_kind.items())
    owner = {medium: show_bytes(ledger.owner_limit("an owner", medium)) for medium in Medium}
    in_memory = f"in memory up to {show_bytes(settings.session_memory_files_bytes)}"
    return {
        "storage, memory": f"{show_bytes(memory.limit_bytes)} for files of sessions; {owner[Medium.memory]} for one owner",
        "storage, disk": f"{show_bytes(disk.held_bytes)} held of {show_bytes(disk.limit_bytes)} ({held or 'nothing'}); "
        f"{owner[Medium.disk]} for one owner, {show_bytes(settings.batch_max_owner_bytes)} of it for batches",
        "files of sessions": f"always in memory: {images.unavailable_reason}"
        if images.unavailable_reason
        else f"{in_memory}, on the disk beyond",
    }


def _folder_bytes(folder: str) -> int:
    found = (os.path.join(above, name) for above, _, names in os.walk(folder) for name in names)
    return sum(_size(path) for path in found)


def watch_database(ledger: Ledger, url: str) -> None:
    """Charge the file of the embedded database; one that is served elsewhere takes nothing here."""
    address = parse_address(url)
    if address.family == SQLITE:
        path = str(address.file)
        ledger.observe(StorageKind.database, lambda: sum(map(_size, (path, f"{path}-wal", f"{path}-shm"))))


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.stat(path).st_size
    return 0


def watch_ledger(metrics: Metrics, ledger: Ledger) -> None:
    held: Gauges = {(medium.value, kind.value): _held(ledger, medium, kind) for medium in Medium for kind in StorageKind}
    metrics.add_labeled_gauge("sandbox_storage_bytes", "Memory and disk that is held, by kind", ("medium", "kind"), held)
    limits: Gauges = {(medium.value,): _limit(ledger, medium) for medium in Medium}
    metrics.add_labeled_gauge("sandbox_storage_limit_bytes", "Memory and disk that may be held", ("medium",), limits)


def _held(ledger: Ledger, medium: Medium, kind: StorageKind) -> Callable[[], float]:
    return lambda: ledger.held(medium, kind)


def _limit(ledger: Ledger, medium: Medium) -> Callable[[], float]:
    return lambda: ledger.limit(medium)
