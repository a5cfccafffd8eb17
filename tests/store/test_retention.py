"""What is old and over goes, what is young or alive stays, and nobody waits long for it."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import insert
from tests.store import samples
from tests.store.conftest import change
from tests.store.samples import NOW_MS

from sandbox_runtime.model import BoxState, ExecutionState, SessionState
from sandbox_runtime.store import RetentionPolicy, RetentionReport, Store, mappings
from sandbox_runtime.store.retention import BATCH_ROWS, DAY_MS

DONE = SessionState.completed


def ago(days: float) -> int:
    return NOW_MS - int(days * DAY_MS)


@pytest.mark.requirement("control_plane-3.08")
async def test_each_kind_goes_at_its_own_age(store: Store) -> None:
    await store.sessions.add(samples.session("live", state=SessionState.running, created_ms=ago(100)))
    await store.sessions.add(samples.session("old", state=DONE, created_ms=ago(8), completed_ms=ago(7.1)))
    await store.sessions.add(samples.session("late", state=DONE, created_ms=ago(100), completed_ms=ago(6.9)))
    await store.sessions.add(samples.session("unnoted", state=SessionState.failed, created_ms=ago(9), updated_ms=ago(8)))
    await store.executions.add(samples.execution("in-old", "old", created_ms=ago(7.5)))
    ended = {"state": ExecutionState.failed, "created_ms": ago(31)}
    await store.executions.add(samples.execution("old-run", "live", completed_ms=ago(30.1), **ended))
    await store.executions.add(samples.execution("young-run", "live", completed_ms=ago(29.9), **ended))
    await store.executions.add(samples.execution("live-run", "live", state=ExecutionState.running, created_ms=ago(31)))
    await store.artifacts.add(samples.artifact("old-file", "young-run", created_ms=ago(30.1)))
    await store.artifacts.add(samples.artifact("young-file", "young-run", created_ms=ago(29.9)))
    await store.boxes.add(samples.box("old-box", state=BoxState.exited, created_ms=ago(2), exited_ms=ago(1.1)))
    await store.boxes.add(samples.box("young-box", state=BoxState.exited, created_ms=ago(2), exited_ms=ago(0.9)))
    await store.boxes.add(samples.box("live-box", state=BoxState.running, created_ms=ago(2)))
    await store.audit.add(samples.entry("old", at_ms=ago(91)), samples.entry("young", at_ms=ago(89)))

    assert await store.apply_retention(NOW_MS) == RetentionReport(sessions=2, executions=1, artifacts=1, boxes=1, audit=1)

    assert {one.id for one in (await store.sessions.list()).items} == {"live", "late"}
    assert {one.id for one in (await store.executions.list()).items} == {"young-run", "live-run"}
    assert {one.id for one in (await store.artifacts.list()).items} == {"young-file"}
    assert {one.id for one in (await store.boxes.list()).items} == {"young-box", "live-box"}
    assert [one.subject for one in (await store.audit.list()).items] == ["young"]
    assert await store.apply_retention(NOW_MS) == RetentionReport()


async def test_an_operator_can_keep_things_longer(store: Store) -> None:
    await store.sessions.add(samples.session(state=DONE, created_ms=ago(8), completed_ms=ago(8)))
    assert (await store.apply_retention(NOW_MS, RetentionPolicy(sessions_ms=9 * DAY_MS))).sessions == 0
    assert (await store.apply_retention(NOW_MS)).sessions == 1


async def test_many_go_in_bounded_steps_and_the_rest_is_told(store: Store, url: str) -> None:
    many = BATCH_ROWS * 2 + 10
    old = [samples.session(f"s{n}", state=DONE, created_ms=ago(9), updated_ms=ago(9), completed_ms=ago(8)) for n in range(many)]
    rows = [mappings.SESSION.to_row(one) for one in old]
    await change(url, lambda connection: connection.execute(insert(mappings.SESSION.table), rows).close())
    first = await store.apply_retention(NOW_MS, max_steps=2)
    assert (first.sessions, first.more) == (BATCH_ROWS * 2, True)
    second = await store.apply_retention(NOW_MS)
    assert (second.sessions, second.more) == (10, False)


async def test_two_janitors_do_not_stand_in_each_others_way(store: Store, url: str) -> None:
    old = [samples.session(f"s{n}", state=DONE, created_ms=ago(9), updated_ms=ago(9), completed_ms=ago(8)) for n in range(300)]
    rows = [mappings.SESSION.to_row(one) for one in old]
    await change(url, lambda connection: connection.execute(insert(mappings.SESSION.table), rows).close())
    gone = await asyncio.gather(*(store.apply_retention(NOW_MS) for _ in range(3)))
    assert sum(one.sessions for one in gone) == 300
    assert await store.sessions.count() == 0
