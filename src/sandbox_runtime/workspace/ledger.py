"""The storage ledger of a node: how much memory and disk is held, of what kind, by whom, and what still fits.

Theory of operation. Everything that takes room on the host has a Charge in the one Ledger of the process. Whoever is about to
take room opens a charge or grows one, and is refused where the node (StorageFull) or the owner (QuotaExceeded) has no room left.
Files that a program writes in its box grow without asking: their charge is brought up to date by force, at the end of each
execution and by a watcher, and while the sum is over a bound everything that would add to it is refused, and what grows is
stopped.

A call costs a lock and a few dictionary updates; nothing here looks at a disk. After a restart the rooms charge again what they
find on the disk. Sums are never negative: a charge gives back exactly what it holds, once.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

from sandbox_runtime.errors import QuotaExceeded, StorageFull
from sandbox_runtime.model.storage import Medium, StorageKind, StorageLimits, StorageUsage
from sandbox_runtime.quantities import show_bytes

_NAMES = {
    StorageKind.session_files: "session files",
    StorageKind.snapshots: "snapshots of sessions",
    StorageKind.uploads: "uploads",
    StorageKind.batches: "batches",
    StorageKind.builds: "build cache",
    StorageKind.database: "database",
    StorageKind.outputs: "output of executions",
}
_MEDIUM_NAMES = {Medium.memory: "memory for files", Medium.disk: "disk"}
Key = TypeVar("Key")
PLATFORM = None
"""Owner of what belongs to the server itself."""


class Ledger:
    """Safe for threads. free_bytes: how much of the disk is free now, for a bound that follows it."""

    def __init__(self, limits: StorageLimits, free_bytes: Callable[[], int] = lambda: 0) -> None:
        self._limits = limits
        self._free_bytes = free_bytes
        self._lock = threading.RLock()
        self._held: Counter[Medium] = Counter()
        self._kinds: Counter[tuple[Medium, StorageKind]] = Counter()
        self._owners: Counter[tuple[str, Medium]] = Counter()
        self._owner_kinds: Counter[tuple[str, Medium, StorageKind]] = Counter()
        self._observed: list[tuple[Charge, Callable[[], int]]] = []
        self._disk_limit = limits.disk_bytes
        self.refresh()

    def open(self, kind: StorageKind, owner: str | None, size: int = 0, medium: Medium = Medium.disk) -> Charge:
        """Return a charge of that size. Raises StorageFull or QuotaExceeded."""
        charge = Charge(self, kind, owner, medium)
        charge.resize(size)
        return charge

    def observe(self, kind: StorageKind, size: Callable[[], int]) -> None:
        """Charge the platform with what the function returns, whenever refresh() is called."""
        self._observed.append((self.open(kind, PLATFORM), size))

    def refresh(self) -> None:
        """Bring what is only observed up to date, and the bound that follows the free disk. Looks at the disk."""
        for charge, size in self._observed:
            charge.resize(size(), force=True)
        if not self._limits.disk_bytes:
            free = int(self._free_bytes() * self._limits.free_share)
            with self._lock:
                self._disk_limit = self._held[Medium.disk] + free

    def check(self, owner: str | None, medium: Medium) -> None:
        """Raises StorageFull or QuotaExceeded where more is held than may be."""
        with self._lock:
            self._check(owner, medium, None, 0)

    def is_over(self, owner: str | None, medium: Medium) -> bool:
        try:
            self.check(owner, medium)
        except (StorageFull, QuotaExceeded):
            return True
        return False

    def limit(self, medium: Medium) -> int:
        return self._disk_limit if medium is Medium.disk else self._limits.memory_bytes

    def owner_limit(self, owner: str | None, medium: Medium) -> int:
        """Return the owner's own bound, or the node's where it has none."""
        return (self._limits.owner_limit(medium) or self.limit(medium) // 2) if owner else self.limit(medium)

    def held(self, medium: Medium, kind: StorageKind | None = None) -> int:
        return self._held[medium] if kind is None else self._kinds[medium, kind]

    def usage(self, medium: Medium, owner: str | None = None) -> StorageUsage:
        """Return what is held of a medium, with the figures of one owner."""
        with self._lock:
            return StorageUsage(
                medium=medium,
                limit_bytes=self.limit(medium),
                held_bytes=self._held[medium],
                by_kind={kind: size for kind in StorageKind if (size := self._kinds[medium, kind])},
                owner_limit_bytes=self.owner_limit(owner, medium),
                owner_bytes=0 if owner is None else self._owners[owner, medium],
                owner_by_kind={}
                if owner is None
                else {kind: size for kind in StorageKind if (size := self._owner_kinds[owner, medium, kind])},
            )

    def _move(self, charge: Charge, size: int, *, force: bool) -> None:
        with self._lock:
            more = size - charge.size_bytes
            if more > 0 and not force:
                self._check(charge.owner, charge.medium, charge.kind, more)
            charge.size_bytes = size
            _add(self._held, charge.medium, more)
            _add(self._kinds, (charge.medium, charge.kind), more)
            if charge.owner is not None:
                _add(self._owners, (charge.owner, charge.medium), more)
                _add(self._owner_kinds, (charge.owner, charge.medium, charge.kind), more)

    def _check(self, owner: str | None, medium: Medium, kind: StorageKind | None, more: int) -> None:
        if owner is not None:
            self._check_owner(owner, medium, kind, more)
        if self._held[medium] + more > self.limit(medium):
            use = self.usage(medium, owner)
            held, limit = show_bytes(use.held_bytes), show_bytes(use.limit_bytes)
            raise StorageFull(
                f"the {_MEDIUM_NAMES[medium]} of this node is full: {held} of {limit} are held"
                f"{_format_kinds(use.by_kind)}{_format_more(more)}; {_format_own(use, owner)}"
                "delete what is no longer needed, or try again later"
            )

    def _check_owner(self, owner: str, medium: Medium, kind: StorageKind | None, more: int) -> None:
        use_now, limit = self._owners[owner, medium], self.owner_limit(owner, medium)
        if owner and use_now + more > limit:
            use = self.usage(medium, owner)
            raise QuotaExceeded(
                f"your quota of {_MEDIUM_NAMES[medium]} is used up: you hold {show_bytes(use_now)} of {show_bytes(limit)}"
                f"{_format_kinds(use.owner_by_kind)}{_format_more(more)}; delete what you no longer need"
            )
        batch_limit = self._limits.owner_batch_bytes
        held = self._owner_kinds[owner, medium, StorageKind.batches]
        if kind is StorageKind.batches and batch_limit and held + more > batch_limit:
            raise QuotaExceeded(
                f"your quota for batches is used up: you hold {show_bytes(held)} of {show_bytes(batch_limit)}"
                f"{_format_more(more)}; delete batches whose results you have, or wait for running ones to end"
            )


class Charge:
    """What one thing holds. Made by Ledger.open; release() gives it back."""

    def __init__(self, ledger: Ledger, kind: StorageKind, owner: str | None, medium: Medium) -> None:
        self._ledger = ledger
        self.kind = kind
        self.owner = owner
        self.medium = medium
        self.size_bytes = 0
        self._released = False

    def resize(self, size: int, *, force: bool = False) -> None:
        """Hold that much instead. Raises StorageFull or QuotaExceeded, and holds what it held, unless it fits or is forced."""
        if not self._released:
            self._ledger._move(self, max(0, size), force=force)

    def grow(self, more: int, *, force: bool = False) -> None:
        self.resize(self.size_bytes + more, force=force)

    def release(self) -> None:
        """Idempotent."""
        self.resize(0, force=True)
        self._released = True

    def __enter__(self) -> Charge:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


def _add(counter: Counter[Key], key: Key, more: int) -> None:
    counter[key] += more
    if not counter[key]:
        del counter[key]


def _format_kinds(by_kind: Mapping[StorageKind, int]) -> str:
    parts = [f"{_NAMES[kind]} {show_bytes(size)}" for kind, size in sorted(by_kind.items(), key=lambda item: -item[1])]
    return f" ({', '.join(parts)})" if parts else ""


def _format_more(more: int) -> str:
    return f", and {show_bytes(more)} more are asked for" if more else ""


def _format_own(use: StorageUsage, owner: str | None) -> str:
    return "" if owner is None else f"yours of that: {show_bytes(use.owner_bytes)}{_format_kinds(use.owner_by_kind)}; "
