"""Contexts of sessions, and forks of whole sessions."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, TooMany
from sandbox_runtime.model import Execution, ExecutionKind, ExecutionState, Session, SessionMode, SessionState
from sandbox_runtime.sessions import ContextView, ExecutionSpec, Sessions, SessionSpec

pytestmark = pytest.mark.asyncio(loop_scope="session")


def cell(context: ContextView | str, code: str, **more: Any) -> ExecutionSpec:
    key = context if isinstance(context, str) else context.id
    return ExecutionSpec(kind=ExecutionKind.cell, context=key, code=code, **more)


def displayed(execution: Execution) -> str:
    assert execution.displays_json is not None, (execution.state, execution.error, execution.stderr)
    return str(json.loads(execution.displays_json)[-1]["text/plain"])


async def session_with_context(sessions: Sessions, **more: Any) -> tuple[Session, ContextView]:
    session = await sessions.create(SessionSpec(**more))
    return session, await sessions.contexts.open(session.id)


async def test_variables_stay_and_rich_results_are_told(sessions: Sessions) -> None:
    session, context = await session_with_context(sessions, env={"WHO": "me"})
    await sessions.executions.run(session.id, cell(context, "import os\nx = 20\nopen('made', 'w').write('by a cell')"))
    done = await sessions.executions.run(session.id, cell(context, "print(os.environ['WHO'])\nx + 22"))
    assert (done.state, done.stdout, displayed(done)) == (ExecutionState.completed, "me\n", "42")
    file = await sessions.executions.run(session.id, ExecutionSpec(kind=ExecutionKind.command, code="cat made"))
    assert file.stdout == "by a cell"
    await sessions.delete(session.id)


async def test_several_contexts_know_nothing_of_each_other(sessions: Sessions) -> None:
    session, one = await session_with_context(sessions)
    other = await sessions.contexts.open(session.id)
    await sessions.executions.run(session.id, cell(one, "x = 1"))
    failed = await sessions.executions.run(session.id, cell(other, "x"))
    assert failed.state is ExecutionState.failed and "NameError" in failed.error
    assert {view.id for view in await sessions.contexts.list(session.id)} == {one.id, other.id}
    await sessions.contexts.close(session.id, other.id)
    with pytest.raises(NotFound):
        await sessions.executions.run(session.id, cell(other, "x"))
    await sessions.delete(session.id)


async def test_a_cell_is_interrupted_and_the_variables_stay(sessions: Sessions) -> None:
    session, context = await session_with_context(sessions)
    await sessions.executions.run(session.id, cell(context, "kept = 5"))
    running = await sessions.executions.submit(
        session.id, cell(context, "print('begun', flush=True)\nimport time\ntime.sleep(60)")
    )
    async for _ in sessions.executions.output(running.id, "stdout"):
        break
    assert (await sessions.contexts.list(session.id))[0].busy
    await sessions.contexts.interrupt(session.id, context.id)
    done = await sessions.executions.wait(running.id, 30)
    assert done.state is ExecutionState.failed and "KeyboardInterrupt" in done.error
    assert displayed(await sessions.executions.run(session.id, cell(context, "kept"))) == "5"
    await sessions.delete(session.id)


async def test_a_cell_over_its_time_or_cancelled_leaves_the_context_usable(sessions: Sessions) -> None:
    session, context = await session_with_context(sessions)
    slow = await sessions.executions.run(session.id, cell(context, "import time\ntime.sleep(60)", timeout_s=0.2))
    assert slow.state is ExecutionState.timeout
    running = await sessions.executions.submit(session.id, cell(context, "print('begun', flush=True)\ntime.sleep(60)"))
    async for _ in sessions.executions.output(running.id, "stdout"):
        break
    assert (await sessions.executions.cancel(running.id)).state is ExecutionState.cancelled
    for _ in range(50):
        done = await sessions.executions.run(session.id, cell(context, "1 + 1"))
        if done.state is ExecutionState.completed:
            break
        await asyncio.sleep(0.1)  # the interrupted cell is ending
    assert displayed(done) == "2"
    await sessions.delete(session.id)


async def test_a_restarted_context_is_empty_and_has_its_id(sessions: Sessions) -> None:
    session, context = await session_with_context(sessions)
    await sessions.executions.run(session.id, cell(context, "x = 1"))
    again = await sessions.contexts.restart(session.id, context.id)
    assert again.id == context.id
    assert "NameError" in (await sessions.executions.run(session.id, cell(context, "x"))).error
    await sessions.delete(session.id)


async def test_a_context_that_died_says_so_and_can_be_restarted(sessions: Sessions) -> None:
    session, context = await session_with_context(sessions)
    died = await sessions.executions.run(session.id, cell(context, "import os\nos._exit(3)"))
    assert died.state is ExecutionState.failed and "status 3" in died.error
    assert not (await sessions.contexts.list(session.id))[0].alive
    await sessions.contexts.restart(session.id, context.id)
    assert displayed(await sessions.executions.run(session.id, cell(context, "6 * 7"))) == "42"
    await sessions.delete(session.id)


async def test_contexts_are_bounded_and_cells_belong_to_them(open_server: Any) -> None:
    async with open_server(session_contexts=1) as platform:
        sessions = platform.sessions
        session, _ = await session_with_context(sessions)
        with pytest.raises(TooMany):
            await sessions.contexts.open(session.id)
    with pytest.raises(InvalidRequest, match="context"):
        ExecutionSpec(kind=ExecutionKind.cell, code="1")
    with pytest.raises(InvalidRequest, match="context"):
        ExecutionSpec(code="1", context="c")


async def test_a_fork_has_files_and_variables_of_the_original_and_goes_its_own_way(sessions: Sessions) -> None:
    session, context = await session_with_context(sessions)
    await sessions.executions.run(
        session.id, cell(context, "import random\nrandom.seed(1)\nx = [1, 2]\nopen('note', 'w').write('shared')")
    )
    copies = await sessions.fork(session.id, 3)
    assert len({copy.id for copy in copies}) == 3 and all(copy.state is SessionState.running for copy in copies)
    drawn = set()
    for number, copy in enumerate(copies):
        await sessions.executions.run(copy.id, cell(context, f"x.append({number})\nopen('note', 'a').write('{number}')"))
        assert displayed(await sessions.executions.run(copy.id, cell(context, "x, open('note').read()"))) == (
            f"([1, 2, {number}], 'shared{number}')"
        )
        drawn.add(displayed(await sessions.executions.run(copy.id, cell(context, "random.random()"))))
    assert len(drawn) == 3
    assert displayed(await sessions.executions.run(session.id, cell(context, "x, open('note').read()"))) == "([1, 2], 'shared')"
    await sessions.delete(session.id)
    assert displayed(await sessions.executions.run(copies[0].id, cell(context, "sum(x)"))) == "3"
    for copy in copies:
        await sessions.delete(copy.id)


async def test_a_session_without_contexts_is_forked_with_its_files(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec(mode=SessionMode.persistent, env={"A": "1"}), "ann")
    await sessions.executions.run(
        session.id, ExecutionSpec(language="bash", code="mkdir d; echo x > d/f; ln -s d/f l; chmod 700 d")
    )
    (copy,) = await sessions.fork(session.id, owner="ann")
    done = await sessions.executions.run(
        copy.id, ExecutionSpec(language="bash", code="cat l; echo $A; stat -c %a d"), owner="ann"
    )
    assert (done.stdout, copy.owner, copy.mode) == ("x\n1\n700\n", "ann", SessionMode.persistent)
    await sessions.delete(session.id)
    await sessions.delete(copy.id)


async def test_a_session_in_which_something_runs_is_not_forked(sessions: Sessions) -> None:
    session, context = await session_with_context(sessions)
    running = await sessions.executions.submit(session.id, cell(context, "import time\ntime.sleep(30)"))
    with pytest.raises(Conflict, match="wait for them"):
        await sessions.fork(session.id)
    with pytest.raises(InvalidRequest, match="1 to"):
        await sessions.fork(session.id, 0)
    await sessions.executions.cancel(running.id)
    await sessions.delete(session.id)


async def test_the_next_fork_finds_a_place_ready_and_nothing_of_it_stays(open_server: Any) -> None:
    async with open_server(warm_pool_enabled=False) as platform:
        sessions = platform.sessions
        session, context = await session_with_context(sessions)
        live = sessions._deps.registry.open[session.id]
        await sessions.executions.run(session.id, cell(context, "x = 0"))
        for number in range(3):
            await sessions.executions.run(session.id, cell(context, "x += 1"))
            (copy,) = await sessions.fork(session.id)
            assert displayed(await sessions.executions.run(copy.id, cell(context, "x"))) == str(number + 1)
            assert live.fork_pool is not None and live.fork_pool.waiting
        other = await sessions.contexts.open(session.id)
        (copy,) = await sessions.fork(session.id)
        assert {one.id for one in await sessions.contexts.list(copy.id)} == {context.id, other.id}
        await sessions.delete(session.id)
        assert len(platform.backend._resources.shared) == 4  # those of the forks
