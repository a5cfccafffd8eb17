"""Sessions from creation to end, on a real node."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Any

import pytest

from sandbox_runtime.assembly import Platform
from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, TooMany, Unavailable
from sandbox_runtime.model import BoxState, Resources, SessionMode, SessionState, Template
from sandbox_runtime.model.limits import GIB, MIB
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec
from sandbox_runtime.store import AuditFilter, SessionFilter

pytestmark = pytest.mark.asyncio(loop_scope="session")
PERSISTENT = SessionMode.persistent


async def test_a_session_runs_at_once_with_what_its_template_says(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec(), "ann")
    assert (session.state, session.template, session.owner, session.node) == (SessionState.running, "python-basic", "ann", "here")
    assert session.resources == Resources(1.0, 512 * MIB, GIB, 128) and session.timeout_s == 300
    assert session.box and session.started_ms is not None
    assert (await sessions.get(session.id, "ann")).id == session.id
    await sessions.delete(session.id, "ann")
    with pytest.raises(NotFound):
        await sessions.get(session.id, "ann")


async def test_what_is_somebody_elses_does_not_exist(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec(), "ann")
    done = await sessions.executions.run(session.id, ExecutionSpec(code="print(1)"), owner="ann")
    calls: list[Any] = [
        sessions.get(session.id, "bob"),
        sessions.terminate(session.id, "bob"),
        sessions.delete(session.id, "bob"),
        sessions.executions.submit(session.id, ExecutionSpec(code="1"), "bob"),
        sessions.executions.get(done.id, "bob"),
        sessions.executions.cancel(done.id, "bob"),
        sessions.files.open(session.id, "bob"),
        sessions.contexts.open(session.id, "bob"),
        sessions.fork(session.id, 1, "bob"),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            await call
    assert session.id not in [one.id for one in (await sessions.list(owner="bob")).items]
    assert session.id in [one.id for one in (await sessions.list(owner="ann")).items]
    await sessions.delete(session.id, "ann")


async def test_an_id_of_ones_own_is_taken_once(sessions: Sessions) -> None:
    await sessions.create(SessionSpec(id="my-own_1"))
    with pytest.raises(Conflict, match="exists"):
        await sessions.create(SessionSpec(id="my-own_1"))
    assert (await sessions.get("my-own_1")).state is SessionState.running
    await sessions.delete("my-own_1")
    with pytest.raises(InvalidRequest, match="letters"):
        SessionSpec(id="../etc")


async def test_termination_leaves_the_row_and_deletion_nothing(sessions: Sessions, platform: Platform) -> None:
    session = await sessions.create(SessionSpec())
    done = await sessions.executions.run(session.id, ExecutionSpec(code="print(1)"))
    ended = await sessions.terminate(session.id)
    assert (ended.state, (await sessions.terminate(session.id)).state) == (SessionState.terminated, SessionState.terminated)
    assert (await sessions.executions.get(done.id)).stdout == "1\n"
    await sessions.delete(session.id)
    with pytest.raises(NotFound):
        await sessions.executions.get(done.id)


async def test_every_change_is_audited(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec(), "ann")
    await sessions.executions.run(session.id, ExecutionSpec(code="1"), owner="ann")
    await sessions.delete(session.id, "ann")
    page = await sessions.store.audit.list(AuditFilter(kind="session", subject=session.id))
    assert [entry.action for entry in page.items] == ["delete", "terminated", "create"]
    assert {entry.actor for entry in page.items} == {"ann"}


async def test_resources_beyond_the_bounds_are_refused_by_name(sessions: Sessions) -> None:
    for wrong in (
        Resources(memory_bytes=900 * GIB),
        Resources(disk_bytes=900 * GIB),
        Resources(cpu_cores=4000),
        Resources(processes=9999),
    ):
        with pytest.raises(InvalidRequest, match="at most"):
            await sessions.create(SessionSpec(resources=wrong))
    with pytest.raises(NotFound, match="no-such"):
        await sessions.create(SessionSpec(template="no-such"))


async def test_the_limits_of_a_session_are_those_of_what_runs_in_it(sessions: Sessions) -> None:
    small = Resources(cpu_cores=1, memory_bytes=64 * MIB, disk_bytes=2 * MIB, processes=16)
    session = await sessions.create(SessionSpec(resources=small, timeout_s=7))
    full = await sessions.executions.run(session.id, ExecutionSpec(language="bash", code="head -c 5000000 /dev/zero > big"))
    assert "No space left" in full.stderr and full.timeout_s == 7
    greedy = "x = bytearray(200_000_000)\nx[::4096] = b'1' * len(x[::4096])"
    done = await sessions.executions.run(session.id, ExecutionSpec(code=greedy))
    assert done.exit_code != 0
    await sessions.delete(session.id)


async def test_an_agents_running_session_is_given_again(sessions: Sessions) -> None:
    spec = SessionSpec(agent="a1", mode=PERSISTENT)
    first = await sessions.create(spec, "ann")
    assert (await sessions.create(spec, "ann")).id == first.id
    other_owner = await sessions.create(spec, "bob")
    new = await sessions.create(SessionSpec(agent="a1", mode=PERSISTENT, require_new=True), "ann")
    ephemeral = await sessions.create(SessionSpec(agent="a1"), "ann")
    assert len({first.id, other_owner.id, new.id, ephemeral.id}) == 4
    assert [visit.node for visit in await sessions.store.agents.visits("a1")] == ["here"]
    for one in (first, other_owner, new, ephemeral):
        await sessions.delete(one.id)


async def test_counts_are_bounded_for_all_and_for_each_owner(open_server: Any) -> None:
    async with open_server(session_max=3, session_max_per_owner=2) as platform:
        sessions = platform.sessions
        made = [await sessions.create(SessionSpec(), "ann") for _ in range(2)]
        with pytest.raises(TooMany, match="owner"):
            await sessions.create(SessionSpec(), "ann")
        await sessions.create(SessionSpec(), "bob")
        with pytest.raises(TooMany):
            await sessions.create(SessionSpec(), "cid")
        await sessions.terminate(made[0].id)
        await sessions.create(SessionSpec(), "ann")


async def test_listing_filters_and_pages(sessions: Sessions) -> None:
    made = [await sessions.create(SessionSpec(), "pager") for _ in range(3)]
    await sessions.terminate(made[0].id)
    running = await sessions.list(SessionFilter(states=(SessionState.running,)), owner="pager")
    assert {one.id for one in running.items} == {made[1].id, made[2].id}
    page = await sessions.list(limit=2, owner="pager")
    assert (page.total, len(page.items), page.has_more) == (3, 2, True)
    boxes = await sessions.monitor.boxes(owner="pager")
    assert sorted(box.state for box in boxes.items) == [BoxState.exited, BoxState.running, BoxState.running]
    for one in made:
        await sessions.delete(one.id)


async def test_templates_shape_sessions_and_stay_while_they_are_used(sessions: Sessions) -> None:
    own = Resources(memory_bytes=256 * MIB, disk_bytes=64 * MIB)
    await sessions.templates.add(Template(id="own", name="Own", resources=own, env={"A": "template"}, timeout_s=60, created_ms=1))
    session = await sessions.create(SessionSpec(template="own", env={"B": "session"}))
    assert (session.resources, session.env, session.timeout_s) == (own, {"A": "template", "B": "session"}, 60)
    with pytest.raises(Conflict, match="end them first"):
        await sessions.templates.delete("own")
    await sessions.delete(session.id)
    await sessions.templates.change("own", active=False)
    with pytest.raises(Conflict, match="inactive"):
        await sessions.create(SessionSpec(template="own"))
    await sessions.templates.delete("own")


async def test_a_node_tells_of_itself(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    node = await sessions.nodes.get("here")
    assert node.boxes >= 1 and node.cpu_cores >= 1 and 0 <= node.memory_usage <= 1
    assert [one.id for one in (await sessions.nodes.list()).items] == ["here"]
    await sessions.delete(session.id)


async def test_a_backend_without_lasting_files_says_so(open_server: Any) -> None:
    async with open_server(isolation="none") as platform:
        with pytest.raises(Unavailable, match="namespaces"):
            await platform.sessions.create(SessionSpec())
        page = await platform.sessions.list()
        assert [one.state for one in page.items] == [SessionState.failed]


async def test_a_node_has_one_server(open_server: Any) -> None:
    async with open_server(), open_server() as second:
        with pytest.raises(Unavailable, match="another server"):
            await second.sessions.create(SessionSpec())


async def test_nothing_is_left_of_sessions_that_are_gone(open_server: Any) -> None:
    async with open_server(warm_pool_enabled=False) as platform:
        sessions = platform.sessions
        await sessions.delete((await sessions.create(SessionSpec())).id)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            session = await sessions.create(SessionSpec())
            await sessions.executions.run(session.id, ExecutionSpec(code="print(1)"))
            await sessions.delete(session.id)
        sessions._executor.forget_all()
        assert len(os.listdir("/proc/self/fd")) <= before


async def test_whoever_deletes_what_has_ended_leaves_a_new_one_of_that_name_alone(sessions: Sessions) -> None:
    await sessions.create(SessionSpec(id="renamed"))
    old = await sessions.terminate("renamed")
    await sessions.delete("renamed")
    new = await sessions.create(SessionSpec(id="renamed"))
    with pytest.raises(Conflict, match="somebody else"):
        await sessions._lifecycle.transitions.delete(old)
    assert (await sessions.get("renamed")).created_ms == new.created_ms
    assert (await sessions.executions.run("renamed", ExecutionSpec(code="print(1)"))).stdout == "1\n"
    await sessions.delete("renamed")


async def test_of_many_who_delete_a_session_at_once_nobody_is_told_before_its_name_is_free(sessions: Sessions) -> None:
    async def deleted() -> bool:
        with contextlib.suppress(NotFound):
            await sessions.delete("crowded")
            return True
        return False

    for _ in range(3):
        await sessions.create(SessionSpec(id="crowded"))
        busy = await sessions.executions.submit("crowded", ExecutionSpec(language="bash", code="sleep 100"))
        assert any(await asyncio.gather(*(deleted() for _ in range(5))))
        left = sessions._executor.find(busy.id)
        assert left is None or left.done.done()
        await sessions.create(SessionSpec(id="crowded"))
        await sessions.delete("crowded")
