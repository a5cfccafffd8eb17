"""Builds the storage ledger from settings and exports it as metrics."""

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


def build_ledger(settings: Settings) -> Ledger:
    return Ledger(build_storage_limits(settings), lambda: free_bytes(settings.data_dir))


def build_storage_limits(settings: Settings) -> StorageLimits:
    return StorageLimits(
        memory_bytes=settings.storage_memory_bytes,
        disk_bytes=settings.storage_disk_bytes,
        owner_memory_bytes=settings.storage_owner_memory_bytes,
        owner_disk_bytes=settings.storage_owner_disk_bytes,
        owner_batch_bytes=settings.batch_max_owner_bytes,
    )


def free_bytes(folder: str) -> int:
    """Return how many bytes an unprivileged user can still write to the disk of this folder, which need not exist yet."""
    path = Path(folder)
    while not path.exists() and path != path.parent:
        path = path.parent
    status = os.statvfs(path)
    return status.f_bavail * status.f_frsize


def describe_storage(settings: Settings) -> dict[str, str]:
    """Return the storage limits and the current disk usage as text for operators. Walks the folders."""
    ledger, images = build_ledger(settings), DiskImages(f"{settings.data_dir}/areas", settings.session_memory_files_bytes)
    observe_database(ledger, settings.store_url)
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
    paths = (os.path.join(above, name) for above, _, names in os.walk(folder) for name in names)
    return sum(_size(path) for path in paths)


def observe_database(ledger: Ledger, url: str) -> None:
    """Charge the size of an SQLite database to the ledger. A database server takes no space here."""
    address = parse_address(url)
    if address.family == SQLITE:
        path = str(address.file)
        ledger.observe(StorageKind.database, lambda: sum(map(_size, (path, f"{path}-wal", f"{path}-shm"))))


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.stat(path).st_size
    return 0


def add_ledger_gauges(metrics: Metrics, ledger: Ledger) -> None:
    held: Gauges = {(medium.value, kind.value): _held(ledger, medium, kind) for medium in Medium for kind in StorageKind}
    metrics.add_labeled_gauge("sandbox_storage_bytes", "Memory and disk in use, by kind", ("medium", "kind"), held)
    limits: Gauges = {(medium.value,): _limit(ledger, medium) for medium in Medium}
    metrics.add_labeled_gauge("sandbox_storage_limit_bytes", "Limit of memory and disk in use", ("medium",), limits)


def _held(ledger: Ledger, medium: Medium, kind: StorageKind) -> Callable[[], float]:
    return lambda: ledger.held(medium, kind)


def _limit(ledger: Ledger, medium: Medium) -> Callable[[], float]:
    return lambda: ledger.limit(medium)
