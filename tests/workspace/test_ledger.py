"""The storage ledger: sums, bounds, and what is told to whoever is refused."""

from __future__ import annotations

import threading

import pytest

from sandbox_runtime.errors import QuotaExceeded, StorageFull
from sandbox_runtime.model import Medium, StorageKind, StorageLimits
from sandbox_runtime.quantities import GIB, MIB
from sandbox_runtime.workspace.ledger import PLATFORM, Ledger

LIMITS = StorageLimits(
    memory_bytes=100 * MIB, disk_bytes=GIB, owner_memory_bytes=60 * MIB, owner_disk_bytes=GIB, owner_batch_bytes=50 * MIB
)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(LIMITS)


def files(ledger: Ledger, owner: str, size: int) -> None:
    ledger.open(StorageKind.session_files, owner, size, Medium.memory)


def test_what_does_not_fit_on_the_node_is_refused_with_figures_and_without_names(ledger: Ledger) -> None:
    files(ledger, "ann", 50 * MIB)
    files(ledger, "bob", 40 * MIB)
    with pytest.raises(StorageFull) as caught:
        files(ledger, "bob", 20 * MIB)
    text = str(caught.value)
    assert "90 MiB of 100 MiB are held (session files 90 MiB), and 20 MiB more are asked for" in text
    assert "yours of that: 40 MiB" in text and "ann" not in text
    assert ledger.held(Medium.memory) == 90 * MIB


def test_an_owner_has_a_quota_and_everybody_without_a_key_has_the_node(ledger: Ledger) -> None:
    files(ledger, "ann", 60 * MIB)
    with pytest.raises(QuotaExceeded, match="you hold 60 MiB of 60 MiB"):
        files(ledger, "ann", 1)
    anonymous = Ledger(LIMITS)
    files(anonymous, "", 100 * MIB)
    with pytest.raises(StorageFull):
        files(anonymous, "", 1)


def test_batches_have_a_quota_of_their_own(ledger: Ledger) -> None:
    charge = ledger.open(StorageKind.batches, "", 50 * MIB)
    with pytest.raises(QuotaExceeded, match="quota for batches"):
        charge.grow(1)
    ledger.open(StorageKind.snapshots, "", 100 * MIB)


def test_a_charge_gives_back_what_it_holds_once(ledger: Ledger) -> None:
    with ledger.open(StorageKind.uploads, "ann", 10) as charge:
        charge.grow(5)
        assert ledger.usage(Medium.disk, "ann").owner_by_kind == {StorageKind.uploads: 15}
    charge.release()
    charge.resize(100)
    assert ledger.usage(Medium.disk, "ann").held_bytes == 0
    charge = ledger.open(StorageKind.uploads, "ann")
    charge.resize(-5, force=True)
    assert (charge.size_bytes, ledger.held(Medium.disk)) == (0, 0)


def test_what_is_forced_counts_and_nothing_more_fits_until_it_is_gone(ledger: Ledger) -> None:
    charge = ledger.open(StorageKind.session_files, "ann", 0, Medium.memory)
    charge.resize(200 * MIB, force=True)
    assert ledger.is_over("ann", Medium.memory) and ledger.is_over("bob", Medium.memory)
    assert not ledger.is_over("ann", Medium.disk)
    with pytest.raises(QuotaExceeded):
        charge.grow(1)
    charge.resize(10 * MIB)
    assert not ledger.is_over("ann", Medium.memory)


def test_a_bound_that_follows_the_free_disk_counts_what_is_held() -> None:
    free = [1000]
    ledger = Ledger(StorageLimits(memory_bytes=1, disk_bytes=0, free_share=0.5), lambda: free[0])
    assert ledger.limit(Medium.disk) == 500
    charge = ledger.open(StorageKind.builds, PLATFORM, 400)
    free[0] = 600
    ledger.refresh()
    assert ledger.limit(Medium.disk) == 700
    charge.release()
    observed = [0]
    ledger.observe(StorageKind.database, lambda: observed[0])
    observed[0] = 30
    ledger.refresh()
    assert ledger.usage(Medium.disk).by_kind == {StorageKind.database: 30}


def test_sums_hold_when_many_threads_charge(ledger: Ledger) -> None:
    def work(owner: str) -> None:
        for _ in range(500):
            with ledger.open(StorageKind.uploads, owner, 10) as charge:
                charge.grow(7)

    threads = [threading.Thread(target=work, args=(f"owner{number % 3}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.usage(Medium.disk, "owner0") == Ledger(LIMITS).usage(Medium.disk, "owner0")
