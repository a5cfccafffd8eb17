"""What settings mean for the storage ledger, and what the doctor tells of it."""

from __future__ import annotations

from pathlib import Path

from sandbox_runtime.assembly.storage import build_ledger, describe_storage, free_bytes
from sandbox_runtime.model import Medium
from sandbox_runtime.quantities import GIB, MIB
from sandbox_runtime.settings import Settings


def test_bounds_follow_the_machine_unless_they_are_set(tmp_path: Path) -> None:
    ledger = build_ledger(Settings(state_dir=str(tmp_path)))
    assert 0 < ledger.limit(Medium.disk) <= free_bytes(str(tmp_path)) * 0.95
    assert ledger.owner_limit("ann", Medium.memory) == ledger.limit(Medium.memory) // 2
    assert ledger.owner_limit("", Medium.memory) == ledger.limit(Medium.memory)
    chosen = build_ledger(Settings(state_dir=str(tmp_path), storage_disk_bytes=GIB, storage_owner_disk_bytes=MIB))
    assert (chosen.limit(Medium.disk), chosen.owner_limit("ann", Medium.disk)) == (GIB, MIB)


def test_the_doctor_counts_what_lies_on_the_disk(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path), storage_disk_bytes=GIB, storage_memory_bytes=4 * GIB)
    for folder, size in ((settings.files_dir, 3), (settings.batches_dir, 2), (settings.builds_dir, 1)):
        Path(folder, "a").mkdir(parents=True)
        Path(folder, "a/b").write_bytes(bytes(size * MIB))
    facts = describe_storage(settings)
    assert facts["storage, memory"].startswith("4 GiB for files of sessions; 2 GiB for one owner")
    assert facts["storage, disk"].startswith("6 MiB held of 1 GiB (snapshots 3 MiB, batches 2 MiB, builds 1 MiB)")
