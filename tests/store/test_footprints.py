"""What sandboxes leave in figures: versions of files, samples that age, usage, and results of commands."""

from __future__ import annotations

from functools import partial

import pytest
from tests.store import samples
from tests.store.conftest import ask
from tests.store.samples import NOW_MS

from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.model import CachedRun, CacheStatistics, FileRecord, MetricKind, MetricSample, Period, SessionUsage
from sandbox_runtime.model.footprint import merge_samples, new_sample
from sandbox_runtime.store import FileDeleted, FileRead, SamplePolicy, Store, current_revision, downgrade_tables, open_store
from sandbox_runtime.store.address import parse_address
from sandbox_runtime.store.files import MAX_VERSIONS
from sandbox_runtime.store.metric_samples import aggregate
from sandbox_runtime.store.migrator import _upgrade
from sandbox_runtime.store.store import open_database

MINUTE_MS = 60_000


def file(path: str = "/workspace/a.txt", session: str = "s1", **changes: object) -> FileRecord:
    words = {"checksum": "sha256:1", "size_bytes": 3, "created_ms": NOW_MS, **changes}
    return FileRecord(session=session, path=path, **words)  # type: ignore[arg-type]


async def test_a_file_has_versions_and_the_newest_is_what_its_path_holds(store: Store) -> None:
    await store.sessions.add(samples.session())
    odd = "/workspace/ü 世界 %_\0.bin"
    await store.files.record([file(), file(checksum="sha256:2", etag="e", media_type="text/plain"), file(odd)])
    newest, first = await store.files.versions("s1", "/workspace/a.txt")
    assert (newest.version, newest.checksum, newest.parent, first.version, first.parent) == (2, "sha256:2", first.id, 1, 0)
    assert await store.files.latest("s1", "/workspace/a.txt") == newest
    listed = await store.files.list("s1")
    assert (listed.total, {one.path for one in listed.items}) == (2, {"/workspace/a.txt", odd})


async def test_reads_are_counted_and_what_is_deleted_is_not_there(store: Store) -> None:
    await store.sessions.add(samples.session())
    await store.files.record([file("/workspace/d/x"), file("/workspace/dd"), FileRead("s1", "/workspace/d/x", NOW_MS + 5, 3)])
    found = await store.files.latest("s1", "/workspace/d/x")
    assert found is not None and (found.reads, found.read_ms) == (3, NOW_MS + 5)
    await store.files.record([FileDeleted("s1", "/workspace/d", NOW_MS + 9), FileRead("s1", "/workspace/d/x", NOW_MS + 10)])
    assert await store.files.latest("s1", "/workspace/d/x") is None
    assert [one.path for one in (await store.files.list("s1")).items] == ["/workspace/dd"]
    await store.files.record([file("/workspace/d/x")])
    assert [one.version for one in await store.files.versions("s1", "/workspace/d/x")] == [2, 1]


async def test_versions_are_bounded_and_go_with_their_session(store: Store) -> None:
    await store.sessions.add(samples.session())
    await store.files.record([file() for _ in range(MAX_VERSIONS + 3)] + [file(session="gone")])
    kept = await store.files.versions("s1", "/workspace/a.txt")
    assert [one.version for one in kept] == list(range(MAX_VERSIONS + 3, 3, -1))
    await store.sessions.delete("s1")
    assert await store.files.versions("s1", "/workspace/a.txt") == ()


def sample(at_ms: int, value: float, kind: MetricKind = MetricKind.counter, **labels: str) -> MetricSample:
    return new_sample("s1", "things", kind, value, at_ms, labels)


async def test_samples_are_put_together_as_they_age_and_nothing_is_counted_twice(store: Store) -> None:
    await store.sessions.add(samples.session())
    begun_ms = NOW_MS - NOW_MS % (24 * 3600_000)
    await store.samples.add([sample(begun_ms + n * 1000, 1.0) for n in range(120)] + [sample(begun_ms, 5.0, state="failed")])
    gauge = [new_sample("s1", "level", MetricKind.gauge, value, begun_ms) for value in (1.0, 2.0, 6.0)]
    await store.samples.add([*gauge, new_sample("gone", "level", MetricKind.gauge, 1.0, begun_ms)])
    assert await store.samples.compact(begun_ms + 10) == 0
    hours = 3600_000
    for later_ms, period in (
        (2 * hours, Period.minute),
        (8 * hours, Period.five_minutes),
        (80 * hours, Period.hour),
        (1000 * hours, Period.day),
    ):
        assert await store.samples.compact(begun_ms + later_ms) > 0
        found = await store.samples.list("s1")
        assert {one.period for one in found} == {period}
        assert sum(one.value for one in found if one.name == "things" and not one.labels) == 120.0
        assert [one.value for one in found if one.labels] == [5.0]
        (level,) = [one for one in found if one.name == "level"]
        assert (level.value, level.count, level.minimum, level.maximum) == (3.0, 3, 1.0, 6.0)
    assert await store.samples.compact(begun_ms + 10_000 * hours) > 0
    assert await store.samples.list("s1") == ()


async def test_a_late_sample_joins_the_one_of_its_minute(store: Store) -> None:
    await store.sessions.add(samples.session())
    at_ms = NOW_MS - NOW_MS % MINUTE_MS
    for value in (1.0, 2.0):
        await store.samples.add([sample(at_ms + 1, value)])
        await store.samples.compact(at_ms + 2 * 3600_000)
    (one,) = await store.samples.list("s1", name="things", since_ms=at_ms)
    assert (one.value, one.count, one.period, one.at_ms) == (3.0, 2, Period.minute, at_ms)


async def test_an_operator_can_keep_samples_shorter(store: Store) -> None:
    await store.sessions.add(samples.session())
    await store.samples.add([sample(NOW_MS - 10, 1.0)])
    await store.samples.compact(NOW_MS, SamplePolicy(dict.fromkeys(Period, 5)))
    # From raw to a minute, five, an hour and a day, and then away: each step finds what the one before left.
    assert await store.samples.list("s1") == ()


def test_finer_samples_are_shown_in_the_period_that_is_asked_for() -> None:
    at_ms = NOW_MS - NOW_MS % MINUTE_MS
    shown = aggregate([sample(at_ms + n * 30_000, 1.0) for n in range(4)], Period.minute)
    assert [(one.at_ms - at_ms, one.value, one.period) for one in shown] == [(0, 2.0, "1m"), (MINUTE_MS, 2.0, "1m")]
    day = [sample(at_ms, 2.0)]
    assert aggregate(aggregate(day, Period.day), Period.minute) == aggregate(day, Period.day), "what is coarser stays so"
    assert merge_samples(sample(1, 2.0), sample(2, 4.0)).value == 6.0
    with pytest.raises(InvalidRequest):
        new_sample("s1", "x" * 65, MetricKind.gauge, 1.0, 1)


@pytest.mark.requirement("sandboxes-8.05")
async def test_usage_adds_up_and_stands_in_nobodys_way(store: Store) -> None:
    session = await store.sessions.add(samples.session())
    assert await store.sessions.get_usage("s1") == SessionUsage()
    await store.sessions.add_usage(
        {"s1": SessionUsage(cpu_s=1.5, memory_bytes=10, updated_ms=1), "gone": SessionUsage(cpu_s=1.0)}
    )
    await store.sessions.add_usage({"s1": SessionUsage(cpu_s=0.5, disk_bytes=7, updated_ms=2)})
    assert await store.sessions.get_usage("s1") == SessionUsage(2.0, 10, 7, None, None, 2)
    await store.sessions.update(session, error="changed by another")
    with pytest.raises(NotFound):
        await store.sessions.get_usage("gone")


def run(key: str, **changes: object) -> CachedRun:
    words = {"session": "s1", "command": "ls", "content": "{}", "size_bytes": 10, "created_ms": NOW_MS, **changes}
    return CachedRun(key=key, **{"expires_ms": NOW_MS + 100, **words})  # type: ignore[arg-type]


async def test_results_are_found_until_they_expire_and_hits_are_counted(store: Store) -> None:
    await store.command_cache.put(run("a"))
    await store.command_cache.put(run("a", content="newer"))
    found = await store.command_cache.find("a", NOW_MS + 1)
    assert found is not None and (found.content, found.hits, found.used_ms) == ("newer", 1, NOW_MS + 1)
    assert await store.command_cache.find("a", NOW_MS + 100) is None
    assert await store.command_cache.statistics() == CacheStatistics(entries=1, size_bytes=10, hits=1, misses=1)


async def test_what_was_used_longest_ago_makes_room(store: Store) -> None:
    for number in range(5):
        await store.command_cache.put(run(f"k{number}", used_ms=number))
    await store.command_cache.put(run("old", expires_ms=NOW_MS))
    assert await store.command_cache.prune(NOW_MS, max_entries=4, max_bytes=30) == 3
    assert [bool(await store.command_cache.find(f"k{number}", NOW_MS)) for number in range(5)] == [False, False, True, True, True]


async def test_the_revision_can_be_taken_back_and_brought_on_again(bare_url: str) -> None:
    async with open_store(bare_url) as store:
        await store.sessions.add(samples.session())
        await store.files.record([file()])
    await downgrade_tables(bare_url, "r0005")
    assert (await current_revision(bare_url)).current == "r0005"
    assert await ask(bare_url, "SELECT f_id FROM t_sandbox_session") == [("s1",)]
    with pytest.raises(InvalidRequest, match="no way back from revision r0005"):
        await downgrade_tables(bare_url, "r0001")
    with pytest.raises(InvalidRequest, match="cannot go back to"):
        await downgrade_tables(bare_url, "r0006")
    async with open_database(parse_address(bare_url)) as database:
        await database.run_migration(partial(_upgrade, target="r0006"))
    async with open_store(bare_url) as store:
        assert await store.files.latest("s1", "/workspace/a.txt") is None
        await store.files.record([file()])
