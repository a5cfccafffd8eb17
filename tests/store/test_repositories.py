"""What goes in comes out, on every database; what cannot be is refused in the same words."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.store import samples
from tests.store.conftest import ask
from tests.store.samples import NOW_MS, ODD

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound
from sandbox_runtime.model import (
    BatchState,
    BoxState,
    ExecutionState,
    NodeState,
    NodeVisit,
    Resources,
    SessionMode,
    SessionState,
)
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.store import (
    ArtifactFilter,
    AuditFilter,
    BatchFilter,
    BoxFilter,
    ExecutionFilter,
    KeyFilter,
    NodeFilter,
    SessionFilter,
    Store,
    TemplateFilter,
)

FULL = {
    "sessions": samples.full_session(),
    "executions": samples.full_execution(),
    "templates": samples.full_template(),
    "nodes": samples.full_node(),
    "boxes": samples.full_box(),
    "artifacts": samples.full_artifact(),
    "keys": samples.full_key(),
    "batches": samples.full_batch(),
}


@pytest.mark.parametrize("shelf", FULL)
def test_no_field_of_the_samples_has_its_default(shelf: str) -> None:
    """Otherwise the next test would not see a field that is never written."""
    noun = FULL[shelf]
    unset = [
        field.name
        for field in dataclasses.fields(noun)
        if field.default is not dataclasses.MISSING and getattr(noun, field.name) == field.default
    ]
    assert [name for name in unset if name not in ("version", "deleted_ms")] == []


async def test_every_noun_comes_back_as_it_was_given(store: Store) -> None:
    await samples.lay_ground(store)
    for shelf, noun in FULL.items():
        repository: Any = getattr(store, shelf)
        assert await repository.add(noun) == noun
        assert await repository.get(noun.id) == noun
        assert noun in (await repository.list()).items


async def test_what_was_given_the_least_comes_back_with_defaults(store: Store) -> None:
    await samples.lay_ground(store)
    assert await store.sessions.get("s1") == samples.session(updated_ms=NOW_MS)
    assert await store.executions.get("e1") == samples.execution(updated_ms=NOW_MS)
    assert await store.templates.get("t1") == samples.template(updated_ms=NOW_MS)
    assert await store.boxes.add(samples.box()) == await store.boxes.get("b1")


async def test_a_megabyte_of_any_characters_is_kept_byte_for_byte(store: Store) -> None:
    await store.sessions.add(samples.session())
    for key, whole in (
        ("plain", "x" * MIB),
        ("nul", "\0" * MIB),
        ("rockets", "🚀" * (MIB // 4)),
        ("escapes", "\ue000" * (MIB // 3)),
    ):
        kept = await store.executions.add(samples.execution(key, code=whole, stdout=whole, stderr=whole))
        assert (await store.executions.get(key)) == kept
        assert (await store.executions.get(key)).stdout == whole


async def test_what_is_over_a_bound_never_reaches_the_database(store: Store) -> None:
    await store.sessions.add(samples.session())
    with pytest.raises(InvalidRequest, match="code has 1048577 bytes"):
        samples.execution(code="x" * (MIB + 1))
    first = await store.executions.add(samples.execution())
    with pytest.raises(InvalidRequest, match="stdout"):
        await store.executions.update(first, stdout="x" * (MIB + 1))
    assert await store.executions.get("e1") == first


async def test_ids_that_differ_in_case_are_different(store: Store) -> None:
    await store.sessions.add(samples.session("abc"))
    await store.sessions.add(samples.session("ABC"))
    assert (await store.sessions.get("abc")).id == "abc"
    assert await store.sessions.find("aBc") is None


async def test_the_same_id_twice_is_a_conflict(store: Store) -> None:
    await samples.lay_ground(store)
    for repository, noun in (
        (store.sessions, samples.session()),
        (store.executions, samples.execution()),
        (store.templates, samples.template(name="another")),
        (store.nodes, samples.node(hostname="another")),
    ):
        with pytest.raises(Conflict, match="exists already"):
            await repository.add(noun)  # type: ignore[attr-defined]


async def test_names_that_must_be_their_own_are(store: Store) -> None:
    await samples.lay_ground(store)
    with pytest.raises(Conflict):
        await store.templates.add(samples.template("t2", name="name of t1"))
    with pytest.raises(Conflict):
        await store.nodes.add(samples.node("n2", hostname="n1.example"))
    await store.keys.add(samples.api_key())
    with pytest.raises(Conflict):
        await store.keys.add(samples.api_key("k2", digest=samples.api_key().digest))


async def test_what_is_missing_is_not_found_under_its_name(store: Store) -> None:
    with pytest.raises(NotFound, match="there is no session 'nobody'"):
        await store.sessions.get("nobody")
    with pytest.raises(NotFound):
        await store.sessions.delete("nobody")
    with pytest.raises(NotFound):
        await store.sessions.update(samples.session("nobody"), error="x")
    with pytest.raises(NotFound):
        await store.sessions.update_if("nobody", (SessionState.running,), error="x")
    with pytest.raises(NotFound):
        await store.templates.delete("nobody")
    with pytest.raises(NotFound):
        await store.nodes.record_heartbeat("nobody", NOW_MS, 0, 0)


async def test_what_refers_to_nothing_is_not_kept(store: Store) -> None:
    with pytest.raises(NotFound, match="refers to something that does not exist"):
        await store.executions.add(samples.execution(of="nobody"))
    with pytest.raises(NotFound):
        await store.sessions.add(samples.session(template="nothing"))
    with pytest.raises(NotFound):
        await store.artifacts.add(samples.artifact(of="nothing"))
    with pytest.raises(NotFound):
        await store.agents.record_visit(NodeVisit("agent", "nowhere", NOW_MS))
    assert (await store.executions.list()).total == 0


async def test_an_update_counts_and_tells_those_who_read_before(store: Store) -> None:
    first = await store.sessions.add(samples.session())
    second = await store.sessions.update(first, state=SessionState.running, error=ODD, resources=Resources(processes=9))
    assert (second.version, second.state, second.resources.processes) == (1, SessionState.running, 9)
    assert second.updated_ms > first.updated_ms
    assert await store.sessions.get("s1") == second
    with pytest.raises(Conflict, match="changed by somebody else"):
        await store.sessions.update(first, state=SessionState.failed)
    assert await store.sessions.get("s1") == second


async def test_update_if_changes_only_what_is_in_the_expected_state(store: Store) -> None:
    await store.sessions.add(samples.session())
    running = await store.sessions.update_if("s1", (SessionState.creating,), state=SessionState.running)
    assert running == await store.sessions.get("s1")
    with pytest.raises(Conflict, match="'s1' is running, not creating or paused"):
        await store.sessions.update_if("s1", (SessionState.creating, SessionState.paused), state=SessionState.failed)
    assert await store.sessions.get("s1") == running


async def test_notes_of_activity_stand_in_the_way_of_no_update(store: Store) -> None:
    await samples.lay_ground(store)
    seen, run, place = await store.sessions.get("s1"), await store.executions.get("e1"), await store.nodes.get("n1")
    await store.sessions.touch({"s1": NOW_MS + 10, "gone": NOW_MS})
    await store.sessions.touch({"s1": NOW_MS + 5})
    await store.executions.record_heartbeat(["e1", "gone"], NOW_MS + 11)
    await store.nodes.record_heartbeat("n1", NOW_MS + 12, 0.5, 0.25)
    await store.sessions.update(seen, error="x")
    await store.executions.update(run, error="x")
    await store.nodes.update(place, failures=1)
    assert (await store.sessions.get("s1")).last_activity_ms == NOW_MS + 10
    assert (await store.executions.get("e1")).heartbeat_ms == NOW_MS + 11
    beaten = await store.nodes.get("n1")
    assert (beaten.heartbeat_ms, beaten.cpu_usage, beaten.memory_usage) == (NOW_MS + 12, 0.5, 0.25)


async def test_deleting_a_session_takes_all_that_is_its_own(store: Store) -> None:
    await samples.lay_ground(store)
    await store.artifacts.add_all([samples.artifact("a1"), samples.artifact("a2")])
    await store.boxes.add(samples.box(session="s1"))
    await store.boxes.add(samples.box("ready"))
    await store.sessions.delete("s1")
    for repository in (store.sessions, store.executions, store.artifacts):
        assert (await repository.list()).total == 0  # type: ignore[attr-defined]
    assert [box.id for box in (await store.boxes.list()).items] == ["ready"]


async def test_a_node_that_goes_leaves_its_sessions_without_one(store: Store) -> None:
    await store.nodes.add(samples.node())
    await store.sessions.add(samples.session(node="n1"))
    await store.agents.record_visit(NodeVisit("agent", "n1", NOW_MS))
    await store.nodes.delete("n1")
    assert (await store.sessions.get("s1")).node == ""
    assert await store.agents.visits("agent") == ()


async def test_a_deleted_template_frees_its_name_and_its_id_and_keeps_its_sessions(store: Store, url: str) -> None:
    await store.templates.add(samples.template())
    await store.sessions.add(samples.session(template="t1"))
    await store.templates.delete("t1", by="ann", at_ms=NOW_MS)
    assert await store.templates.find("t1") is None
    assert (await store.templates.list()).total == 0
    with pytest.raises(NotFound):
        await store.templates.delete("t1")
    assert (await store.sessions.get("s1")).template == "t1"
    assert await ask(url, "SELECT f_deleted_at, f_deleted_by FROM t_sandbox_template") == [(NOW_MS, "ann")]
    await store.templates.add(samples.template("t2", name="name of t1"))
    again = await store.templates.add(samples.template("t1", name="new", description="again"))
    assert await store.templates.get("t1") == again


async def test_a_purged_template_takes_its_sessions_along(store: Store) -> None:
    await store.templates.add(samples.template())
    await store.sessions.add(samples.session(template="t1"))
    await store.templates.purge("t1")
    assert await store.sessions.find("s1") is None


async def test_an_idempotency_key_gives_one_execution_in_its_session(store: Store) -> None:
    await store.sessions.add(samples.session("s1"))
    await store.sessions.add(samples.session("s2"))
    first, new = await store.executions.add_once(samples.execution("e1", idempotency_key="k"))
    assert new
    assert await store.executions.add_once(samples.execution("e2", idempotency_key="k")) == (first, False)
    other, new = await store.executions.add_once(samples.execution("e3", "s2", idempotency_key="k"))
    assert (other.id, new) == ("e3", True)
    # Without a key there is nothing that could be the same.
    assert (await store.executions.add_once(samples.execution("e4")))[1]
    assert (await store.executions.add_once(samples.execution("e5")))[1]
    with pytest.raises(Conflict):
        await store.executions.add_once(samples.execution("e5"))
    assert (await store.executions.list()).total == 4


async def test_the_latest_execution_of_a_session_is_found(store: Store) -> None:
    await store.sessions.add(samples.session())
    assert await store.executions.latest("s1") is None
    for number in (2, 3, 1):
        await store.executions.add(samples.execution(f"e{number}", created_ms=NOW_MS + number))
    assert (latest := await store.executions.latest("s1")) is not None
    assert latest.id == "e3"


async def test_filters_find_what_they_say(store: Store) -> None:
    await samples.lay_ground(store)
    await store.sessions.add(
        samples.session(
            "s2",
            owner="bob",
            agent="a7",
            template="t1",
            node="n1",
            mode=SessionMode.persistent,
            state=SessionState.running,
            last_activity_ms=NOW_MS - 5,
            expires_ms=NOW_MS,
            created_ms=NOW_MS - 1,
        )
    )
    for wanted in (
        SessionFilter(states=(SessionState.running, SessionState.paused)),
        SessionFilter(owner="bob"),
        SessionFilter(agent="a7", states=(SessionState.running,)),
        SessionFilter(template="t1"),
        SessionFilter(node="n1"),
        SessionFilter(mode=SessionMode.persistent),
        SessionFilter(idle_before_ms=NOW_MS),
        SessionFilter(expired_at_ms=NOW_MS),
        SessionFilter(created_before_ms=NOW_MS),
    ):
        page = await store.sessions.list(wanted)
        assert [one.id for one in page.items] == ["s2"], wanted
        assert await store.sessions.count(wanted) == page.total == 1
    assert [one.id for one in (await store.sessions.list(SessionFilter(template="", owner=""))).items] == ["s1"]
    assert (await store.sessions.list(SessionFilter(states=()))).total == 0


async def test_filters_of_the_other_shelves_find_what_they_say(store: Store) -> None:
    await samples.lay_ground(store)
    await store.executions.add(
        samples.execution("e2", state=ExecutionState.running, heartbeat_ms=NOW_MS - 1, created_ms=NOW_MS - 1)
    )
    for wanted in (
        ExecutionFilter(states=(ExecutionState.running,)),
        ExecutionFilter(session="s1", silent_since_ms=NOW_MS),
        ExecutionFilter(created_before_ms=NOW_MS),
    ):
        assert [one.id for one in (await store.executions.list(wanted)).items] == ["e2"], wanted
    await store.boxes.add(samples.box("b1", session="s1", node="n1", backend="docker", template="t1", state=BoxState.running))
    await store.boxes.add(samples.box("ready"))
    for box_filter in (
        BoxFilter(session="s1"),
        BoxFilter(node="n1"),
        BoxFilter(backend="docker"),
        BoxFilter(template="t1", states=(BoxState.running,)),
    ):
        assert [one.id for one in (await store.boxes.list(box_filter)).items] == ["b1"], box_filter
    assert [one.id for one in (await store.boxes.list(BoxFilter(session=""))).items] == ["ready"]
    await store.templates.add(samples.full_template())
    for template_filter in (
        TemplateFilter(runtime="nodejs20"),
        TemplateFilter(active=False),
        TemplateFilter(name="Data science"),
    ):
        assert [one.id for one in (await store.templates.list(template_filter)).items] == ["t-full"]
    await store.nodes.add(samples.full_node())
    for node_filter in (
        NodeFilter(states=(NodeState.draining,)),
        NodeFilter(backend="docker"),
        NodeFilter(silent_since_ms=NOW_MS + 1),
    ):
        assert [one.id for one in (await store.nodes.list(node_filter)).items] == ["n-full"]
    await store.artifacts.add(samples.artifact())
    assert (await store.artifacts.list(ArtifactFilter(execution="e1"))).total == 1
    assert (await store.artifacts.list(ArtifactFilter(execution="e2"))).total == 0


async def test_an_execution_that_has_ended_is_added_with_its_files_and_the_audit_or_not_at_all(store: Store) -> None:
    await store.sessions.add(samples.session())
    ended = samples.execution(state=ExecutionState.completed, stdout="done", completed_ms=5)
    told = samples.entry("e1", kind="execution")
    added = await store.executions.add_ended(ended, [samples.artifact("a1"), samples.artifact("a2")], by="alice", audit=told)
    assert await store.executions.get("e1") == added
    assert (await store.artifacts.list(ArtifactFilter(execution="e1"))).total == 2
    assert (await store.audit.list(AuditFilter(subject="e1"))).total == 1
    with pytest.raises(Conflict):
        await store.executions.add_ended(samples.execution("e2"), [samples.artifact("a1", of="e2")], audit=samples.entry("e2"))
    assert await store.executions.find("e2") is None and (await store.audit.list(AuditFilter(subject="e2"))).total == 0


async def test_an_execution_ends_with_its_files_or_does_not_end(store: Store) -> None:
    await store.sessions.add(samples.session())
    running = await store.executions.add(samples.execution())
    await store.artifacts.add(samples.artifact("a1"))
    with pytest.raises(Conflict):
        await store.executions.end(running, [samples.artifact("a1")], state=ExecutionState.completed)
    assert await store.executions.get("e1") == running
    ended = await store.executions.end(running, [samples.artifact("a2")], state=ExecutionState.completed)
    assert await store.executions.get("e1") == ended and ended.version == running.version + 1
    with pytest.raises(Conflict, match="somebody else"):
        await store.executions.end(running, [samples.artifact("a3")], state=ExecutionState.failed)
    assert {one.id for one in (await store.artifacts.list(ArtifactFilter(execution="e1"))).items} == {"a1", "a2"}


async def test_pages_follow_each_other_newest_first(store: Store) -> None:
    for number in range(7):
        await store.sessions.add(samples.session(f"s{number}", created_ms=NOW_MS + number // 2))
    seen, offset = [], 0
    while True:
        page = await store.sessions.list(limit=3, offset=offset)
        assert (page.total, page.limit, page.offset) == (7, 3, offset)
        seen += [one.id for one in page.items]
        if not page.has_more:
            break
        offset = page.next_offset
    assert seen == ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]
    beyond = await store.sessions.list(limit=3, offset=100)
    assert (beyond.items, beyond.total, beyond.has_more) == ((), 7, False)
    for limit, offset in ((0, 0), (1001, 0), (1, -1), (1, 10**9)):
        with pytest.raises(InvalidRequest):
            await store.sessions.list(limit=limit, offset=offset)


async def test_a_page_of_large_outputs_ends_before_it_fills_the_memory(store: Store) -> None:
    await store.sessions.add(samples.session())
    large = "x" * MIB
    for number in range(12):
        await store.executions.add(samples.execution(f"e{number:02}", stdout=large, stderr=large, created_ms=NOW_MS + number))
    first = await store.executions.list(limit=50)
    assert (len(first.items), first.total, first.has_more) == (7, 12, True)
    second = await store.executions.list(limit=50, offset=first.next_offset)
    assert [one.id for one in (*first.items, *second.items)] == [f"e{number:02}" for number in range(11, -1, -1)]
    assert not second.has_more


async def test_keys_are_found_by_digest_and_kept_without_the_key(store: Store, url: str) -> None:
    key = await store.keys.add(samples.api_key("k1"))
    assert await store.keys.find_by_digest(key.digest) == key
    assert await store.keys.find_by_digest("0" * 64) is None
    await store.keys.record_use({"k1": NOW_MS + 5})
    revoked = await store.keys.update(key, revoked_ms=NOW_MS + 6)
    assert not revoked.is_valid(NOW_MS + 7)
    assert (await store.keys.get("k1")).last_used_ms == NOW_MS + 5
    assert (await store.keys.list(KeyFilter(owner="ann"))).total == 1
    assert (await store.keys.list(KeyFilter(owner="bob"))).total == 0


async def test_the_audit_tells_who_did_what_in_order(store: Store) -> None:
    await store.audit.add(samples.entry("s1"), samples.entry("s2", action="delete", owner="bob", at_ms=NOW_MS + 1))
    await store.audit.add(samples.entry("s1", action="terminate", actor="janitor", details_json='{"why": "idle"}'))
    page = await store.audit.list()
    assert [(one.subject, one.action) for one in page.items] == [("s2", "delete"), ("s1", "terminate"), ("s1", "create")]
    assert page.items[1].details_json == '{"why": "idle"}'
    assert (await store.audit.list(AuditFilter(kind="session", subject="s1"))).total == 2
    assert (await store.audit.list(AuditFilter(owner="bob"))).total == 1
    assert (await store.audit.list(AuditFilter(actor="janitor"))).total == 1
    assert (await store.audit.list(AuditFilter(since_ms=NOW_MS + 1))).total == 1


async def test_a_change_and_its_audit_are_there_together_or_not_at_all(store: Store) -> None:
    session = await store.sessions.add(samples.session(), audit=samples.entry("s1"))
    await store.sessions.update(session, error="x", audit=samples.entry("s1", action="fail"))
    await store.sessions.update_if("s1", (SessionState.creating,), error="y", audit=samples.entry("s1", action="again"))
    await store.templates.add(samples.template(), audit=samples.entry("t1", kind="template"))
    await store.templates.delete("t1", audit=samples.entry("t1", kind="template", action="delete"))
    await store.sessions.delete("s1", audit=samples.entry("s1", action="delete"))
    for refused in (
        store.templates.delete("t1", audit=samples.entry("never")),
        store.sessions.delete("s1", audit=samples.entry("never")),
        store.sessions.update(session, error="z", audit=samples.entry("never")),
        store.sessions.update_if("s1", (SessionState.creating,), audit=samples.entry("never")),
        store.executions.add(samples.execution(), audit=samples.entry("never")),
    ):
        with pytest.raises(NotFound):
            await refused
    told = [(one.subject, one.action) for one in (await store.audit.list()).items]
    assert told == [("s1", "delete"), ("t1", "delete"), ("t1", "create"), ("s1", "again"), ("s1", "fail"), ("s1", "create")]


async def test_an_agent_remembers_its_last_five_nodes(store: Store) -> None:
    for number in range(7):
        await store.nodes.add(samples.node(f"n{number}"))
        await store.agents.record_visit(NodeVisit("agent", f"n{number}", NOW_MS + number))
    await store.agents.record_visit(NodeVisit("agent", "n4", NOW_MS + 10))
    await store.agents.record_visit(NodeVisit("other", "n0", NOW_MS))
    assert [visit.node for visit in await store.agents.visits("agent")] == ["n4", "n6", "n5", "n3", "n2"]
    assert [visit.node for visit in await store.agents.visits("other")] == ["n0"]


async def test_a_node_gives_as_many_places_as_it_has(store: Store) -> None:
    small = Resources(cpu_cores=1, memory_bytes=100 * MIB + 1)
    await store.nodes.add(samples.node(cpu_cores=4.0, memory_mb=1000, max_boxes=2))
    await store.nodes.reserve("n1", small)
    await store.nodes.reserve("n1", small)
    full = await store.nodes.get("n1")
    assert (full.boxes, full.allocated_cpu_cores, full.allocated_memory_mb) == (2, 2.0, 202)
    with pytest.raises(Conflict, match="no room"):
        await store.nodes.reserve("n1", small)
    await store.nodes.release("n1", small)
    with pytest.raises(Conflict):
        await store.nodes.reserve("n1", Resources(cpu_cores=3.5))
    with pytest.raises(Conflict):
        await store.nodes.reserve("n1", Resources(memory_bytes=1024 * MIB))
    await store.nodes.update_if("n1", (NodeState.online,), state=NodeState.draining)
    with pytest.raises(Conflict):
        await store.nodes.reserve("n1", small)
    for _ in range(3):
        await store.nodes.release("n1", small)
    empty = await store.nodes.get("n1")
    assert (empty.boxes, empty.allocated_cpu_cores, empty.allocated_memory_mb) == (0, 0.0, 0)


async def test_an_operator_of_the_old_platform_finds_what_he_knows(store: Store, url: str) -> None:
    await store.templates.add(samples.template("t1"), by="ann")
    await store.sessions.add(samples.session(template="t1", resources=Resources(0.5, 512 * MIB, 1024 * MIB)), by="ann")
    await store.executions.add(samples.execution(timeout_s=30))
    row = await ask(
        url, "SELECT f_resources_cpu, f_resources_memory, f_resources_disk, f_created_by, f_status FROM t_sandbox_session"
    )
    assert row == [("0.5", "512Mi", "1Gi", "ann", "creating")]
    row = await ask(url, "SELECT f_default_memory_mb, f_is_active, f_deleted_at FROM t_sandbox_template")
    assert row == [(512, 1, 0)]
    assert await ask(url, "SELECT f_session_id, f_code, f_timeout_sec FROM t_sandbox_execution") == [("s1", "print(1)", 30.0)]


async def test_a_batch_sent_twice_with_one_key_exists_once(store: Store) -> None:
    first, new = await store.batches.add_once(samples.batch("b1", key="run-1"))
    again, second_new = await store.batches.add_once(samples.batch("b2", key="run-1"))
    other, other_new = await store.batches.add_once(samples.batch("b3", key="run-1", owner="bob"))
    assert (new, second_new, other_new) == (True, False, True)
    assert again == first and other.id == "b3"


async def test_batches_without_a_key_are_each_their_own(store: Store) -> None:
    for key in ("b1", "b2"):
        assert (await store.batches.add_once(samples.batch(key)))[1]
    with pytest.raises(Conflict):
        await store.batches.add_once(samples.batch("b1"))


async def test_batches_are_found_by_owner_dataset_and_state(store: Store) -> None:
    await store.batches.add(samples.batch("b1", state=BatchState.running))
    await store.batches.add(samples.batch("b2", owner="bob", dataset="humaneval_python"))
    for wanted, found in (
        (BatchFilter(owner="ann"), ["b1"]),
        (BatchFilter(dataset="humaneval_python"), ["b2"]),
        (BatchFilter(states=(BatchState.running, BatchState.completed)), ["b1"]),
    ):
        assert [one.id for one in (await store.batches.list(wanted)).items] == found
