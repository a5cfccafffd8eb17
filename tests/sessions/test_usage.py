"""The usage recorder: writes in the background, bounded, and delays nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.model import Execution, ExecutionState, Metering, Session
from sandbox_runtime.sessions.executions import usage
from sandbox_runtime.sessions.executions.usage import UsageRecorder
from sandbox_runtime.sessions.registry import SessionRegistry
from sandbox_runtime.store import Store, open_store
from sandbox_runtime.store.files import MAX_VERSIONS
from sandbox_runtime.telemetry import open_log
from sandbox_runtime.workspace.listing import Entry, EntryKind

LOG = open_log("error")


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(f"sqlite:///{tmp_path}/own/store.db") as opened:
        await opened.sessions.add(Session(id="s1", created_ms=1))
        yield opened


def ended_execution(session: str = "s1", cpu_ms: float = 250.0) -> Execution:
    used = Metering(duration_ms=500.0, cpu_time_ms=cpu_ms, peak_memory_mb=10.0)
    return Execution(id="e", session=session, created_ms=1, state=ExecutionState.completed, metering=used)


def entry(name: str) -> Entry:
    return Entry(name, EntryKind.file, 3, 0o644, 1, f"etag-{name}")


async def test_what_gathered_is_written_together_and_at_the_end(store: Store) -> None:
    async with UsageRecorder(store, SessionRegistry(), LOG, every_s=3600) as recorder:
        for cpu_ms in (250.0, 750.0):
            recorder.record_execution(ended_execution(cpu_ms=cpu_ms))
        recorder.record_execution(ended_execution("gone"))
        assert await store.samples.list("s1") == (), "nobody has waited for the store"
    found = {sample.name: sample for sample in await store.samples.list("s1")}
    assert (found["cpu_usage_seconds"].value, found["cpu_usage_seconds"].count) == (1.0, 2)
    assert (found["execution_seconds"].value, found["execution_seconds"].maximum) == (0.5, 0.5)
    assert dict(found["executions_total"].labels) == {"kind": "code", "state": "completed"}
    used = await store.sessions.get_usage("s1")
    assert (used.cpu_s, used.memory_bytes) == (1.0, 10 * 1024**2) and used.updated_ms


async def test_a_file_that_is_written_and_read_all_the_time_is_a_few_rows(store: Store) -> None:
    recorder = UsageRecorder(store, SessionRegistry(), LOG)
    observer = recorder.file_recorder("s1")
    for number in range(500):
        observer.on_write("a.txt", entry("a.txt"), f"{number:064x}")
        observer.on_read("/workspace/./a.txt")
    observer.on_write("x" * 5000, entry("x"), "0" * 64)
    await recorder.write()
    kept = await store.files.versions("s1", "/workspace/a.txt")
    assert len(kept) == MAX_VERSIONS and kept[0].checksum == f"sha256:{499:064x}" and kept[0].reads == 500
    observer.on_delete("a.txt")
    await recorder.write()
    assert await store.files.latest("s1", "/workspace/a.txt") is None and recorder.dropped == 0


async def test_more_than_there_is_room_for_is_counted_and_left_out(store: Store) -> None:
    recorder = UsageRecorder(store, SessionRegistry(), LOG)
    for number in range(usage.MAX_SERIES // 4 + 10):
        recorder.record_execution(ended_execution(f"s{number}"))
    observer = recorder.file_recorder("s1")
    for number in range(usage.MAX_FILES + 5):
        observer.on_read(f"f{number}")
    assert recorder.dropped == 40 + 5


async def test_a_store_that_is_away_costs_figures_and_nothing_else(store: Store) -> None:
    class Away:
        async def add(self, _samples: object) -> None:
            raise Unavailable("the database is away")

    recorder = UsageRecorder(store, SessionRegistry(), LOG)
    store.samples = Away()  # type: ignore[assignment]
    recorder.record_execution(ended_execution())
    await recorder.write()
    assert recorder.dropped == 4
