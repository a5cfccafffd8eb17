"""Two servers on one database: of those who want the same thing at once, one gets it and the others are told."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from typing import TypeVar

import pytest
import pytest_asyncio
from tests.store import samples
from tests.store.conftest import ask
from tests.store.samples import NOW_MS

from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.model import NodeVisit, Resources, SessionState
from sandbox_runtime.store import Store, open_store

Result = TypeVar("Result")
AT_ONCE = 12


@pytest_asyncio.fixture
async def servers(url: str) -> AsyncIterator[tuple[Store, Store]]:
    async with open_store(url) as one, open_store(url) as other:
        yield one, other


async def at_once(attempts: list[Awaitable[Result]]) -> list[Result]:
    """What the winners got; every loser must have been told that it lost, and nothing else."""
    ended = await asyncio.gather(*attempts, return_exceptions=True)
    for one in ended:
        if isinstance(one, BaseException) and not isinstance(one, Conflict):
            raise one
    return [one for one in ended if not isinstance(one, BaseException)]


async def test_one_of_many_updates_of_the_same_version_wins(servers: tuple[Store, Store]) -> None:
    first = await servers[0].sessions.add(samples.session())
    winners = await at_once([servers[n % 2].sessions.update(first, error=f"by {n}") for n in range(AT_ONCE)])
    assert len(winners) == 1
    assert await servers[1].sessions.get("s1") == winners[0]


async def test_one_of_many_changes_of_state_wins(servers: tuple[Store, Store]) -> None:
    await servers[0].sessions.add(samples.session(state=SessionState.running))
    targets = (SessionState.terminated, SessionState.timeout, SessionState.completed)
    winners = await at_once(
        [servers[n % 2].sessions.update_if("s1", (SessionState.running,), state=targets[n % 3]) for n in range(AT_ONCE)]
    )
    assert len(winners) == 1
    assert (await servers[0].sessions.get("s1")).state == winners[0].state


async def test_changes_that_do_not_exclude_each_other_are_all_made(servers: tuple[Store, Store]) -> None:
    await servers[0].sessions.add(samples.session(state=SessionState.running))
    live = (SessionState.running,)
    winners = await at_once([servers[n % 2].sessions.update_if("s1", live, error=f"by {n}") for n in range(AT_ONCE)])
    assert len(winners) == AT_ONCE
    assert sorted(one.version for one in winners) == list(range(1, AT_ONCE + 1))


async def test_one_of_many_sessions_with_the_same_id_is_made(servers: tuple[Store, Store]) -> None:
    winners = await at_once([servers[n % 2].sessions.add(samples.session(owner=f"owner{n}")) for n in range(AT_ONCE)])
    assert len(winners) == 1
    assert await servers[1].sessions.get("s1") == winners[0]


async def test_an_idempotency_key_used_by_many_at_once_makes_one_execution(servers: tuple[Store, Store]) -> None:
    await servers[0].sessions.add(samples.session())
    attempts = [servers[n % 2].executions.add_once(samples.execution(f"e{n}", idempotency_key="k")) for n in range(AT_ONCE)]
    ended = await asyncio.gather(*attempts)
    assert sum(new for _, new in ended) == 1
    assert len({execution.id for execution, _ in ended}) == 1


async def test_no_more_places_are_taken_than_a_node_has(servers: tuple[Store, Store]) -> None:
    await servers[0].nodes.add(samples.node(max_boxes=5))
    winners = await at_once([servers[n % 2].nodes.reserve("n1", Resources(cpu_cores=0.1)) for n in range(AT_ONCE)])
    assert len(winners) == 5
    assert (await servers[1].nodes.get("n1")).boxes == 5


async def test_the_same_visit_noted_by_many_at_once_is_noted_once(servers: tuple[Store, Store]) -> None:
    await servers[0].nodes.add(samples.node())
    await asyncio.gather(*(servers[n % 2].agents.record_visit(NodeVisit("agent", "n1", NOW_MS + n)) for n in range(AT_ONCE)))
    assert [visit.node for visit in await servers[0].agents.visits("agent")] == ["n1"]


async def test_what_one_server_has_written_the_other_reads_at_once(servers: tuple[Store, Store]) -> None:
    for number in range(30):
        made = await servers[number % 2].sessions.add(samples.session(f"s{number}"))
        assert await servers[(number + 1) % 2].sessions.get(made.id) == made


async def test_servers_that_start_together_make_the_tables_once(bare_url: str) -> None:
    async with AsyncExitStack() as stack:
        stores = await asyncio.gather(*(stack.enter_async_context(open_store(bare_url)) for _ in range(4)))
        await stores[0].sessions.add(samples.session())
        assert await stores[3].sessions.get("s1")
    assert len(await ask(bare_url, "SELECT version_num FROM t_sandbox_revision")) == 1


async def test_what_was_changed_or_made_anew_meanwhile_is_not_deleted(store: Store) -> None:
    read = await store.sessions.add(samples.session("s1"))
    changed = await store.sessions.update(read, error="changed")
    with pytest.raises(Conflict, match="somebody else"):
        await store.sessions.delete_unchanged(read)
    await store.sessions.delete_unchanged(changed)
    with pytest.raises(NotFound):
        await store.sessions.delete_unchanged(changed)
    new = await store.sessions.add(dataclasses.replace(changed, created_ms=NOW_MS + 1))
    with pytest.raises(Conflict):
        await store.sessions.delete_unchanged(changed)
    assert await store.sessions.get("s1") == new
