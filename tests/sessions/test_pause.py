"""Paused sessions: contexts, executions and terminals in them, their limits, and their end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.isolation.leftovers import groups_of

from sandbox_runtime.assembly import Platform
from sandbox_runtime.engine.terminals import Size
from sandbox_runtime.errors import Conflict, NotFound, TooMany, Unavailable
from sandbox_runtime.model import ExecutionKind, ExecutionState, Session, SessionMode, SessionState
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec

pytestmark = pytest.mark.asyncio(loop_scope="session")
WITHIN_S = 30.0
WAITING = "echo begun; until [ -e word ]; do sleep 0.02; done; echo done"


@pytest_asyncio.fixture(loop_scope="session")
async def session(platform: Platform) -> AsyncIterator[Session]:
    made = await platform.sessions.create(SessionSpec())
    live = platform.sessions._deps.registry.open[made.id]
    if live.environment.files.no_pause:  # type: ignore[attr-defined]
        await platform.sessions.delete(made.id)
        pytest.skip(f"this host cannot pause: {live.environment.files.no_pause}")  # type: ignore[attr-defined]
    yield made
    try:
        await platform.sessions.delete(made.id)
    except NotFound:
        return


def shell(line: str, **more: Any) -> ExecutionSpec:
    return ExecutionSpec(kind=ExecutionKind.command, code=line, **more)


def cell(context: str, code: str, **more: Any) -> ExecutionSpec:
    return ExecutionSpec(kind=ExecutionKind.cell, context=context, code=code, **more)


async def start_and_wait_for_output(sessions: Sessions, session: str, spec: ExecutionSpec) -> str:
    """Start an execution and return its id once it has printed something."""
    execution = await sessions.executions.submit(session, spec)
    async with asyncio.timeout(WITHIN_S):
        async for _ in sessions.executions.output(execution.id, "stdout"):
            break
    return execution.id


async def say(sessions: Sessions, session: str) -> None:
    await (await sessions.files.open(session)).write("word", b"")


async def test_an_execution_goes_on_where_it_was_and_its_time_stood_still(sessions: Sessions, session: Session) -> None:
    running = await start_and_wait_for_output(sessions, session.id, shell(WAITING, timeout_s=4))
    assert (await sessions.pause(session.id)).state is SessionState.paused
    await asyncio.sleep(4.2)
    assert (await sessions.executions.get(running)).state is ExecutionState.running
    assert (await sessions.resume(session.id)).state is SessionState.running
    await say(sessions, session.id)
    done = await sessions.executions.wait(running, WITHIN_S)
    assert (done.state, done.stdout) == (ExecutionState.completed, "begun\ndone\n")
    assert done.metering is not None and done.metering.duration_ms < 4000


async def test_contexts_keep_their_variables_and_a_cell_goes_on(sessions: Sessions, session: Session) -> None:
    context = await sessions.contexts.open(session.id)
    await sessions.executions.run(session.id, cell(context.id, "x = 20"))
    waiting = "print('begun', flush=True)\nimport os, time\nwhile not os.path.exists('word'): time.sleep(0.02)\nx += 22"
    running = await start_and_wait_for_output(sessions, session.id, cell(context.id, waiting))
    await sessions.pause(session.id)
    await sessions.resume(session.id)
    await say(sessions, session.id)
    assert (await sessions.executions.wait(running, WITHIN_S)).state is ExecutionState.completed
    assert (await sessions.executions.run(session.id, cell(context.id, "print(x)"))).stdout == "42\n"


async def test_whatever_is_asked_of_it_meanwhile_is_refused(sessions: Sessions, session: Session) -> None:
    context = await sessions.contexts.open(session.id)
    terminal = await start_and_wait_for_output(sessions, session.id, shell("", terminal=Size()))
    await sessions.pause(session.id)
    for refused in (
        sessions.executions.submit(session.id, shell("true")),
        sessions.executions.run(session.id, cell(context.id, "1")),
        sessions.contexts.open(session.id),
        sessions.files.open(session.id),
        sessions.fork(session.id),
        sessions.terminals.send_keys(terminal, b"exit\n"),
        sessions.pause(session.id),
    ):
        with pytest.raises(Conflict, match="paused: resume it first"):
            await refused  # type: ignore[misc]
    await sessions.resume(session.id)
    with pytest.raises(Conflict, match="must be paused"):
        await sessions.resume(session.id)
    await sessions.terminals.send_keys(terminal, b"exit\n")
    assert (await sessions.executions.wait(terminal, WITHIN_S)).state is ExecutionState.completed


async def test_what_is_paused_can_be_cancelled(sessions: Sessions, session: Session) -> None:
    running = await start_and_wait_for_output(sessions, session.id, shell(WAITING))
    await sessions.pause(session.id)
    async with asyncio.timeout(WITHIN_S):
        assert (await sessions.executions.cancel(running)).state is ExecutionState.cancelled
    await sessions.resume(session.id)
    assert (await sessions.executions.run(session.id, shell("echo on"))).stdout == "on\n"


@pytest.mark.attack
async def test_ending_a_paused_session_leaves_nothing(sessions: Sessions, session: Session, platform: Platform) -> None:
    await sessions.contexts.open(session.id)
    running = await start_and_wait_for_output(sessions, session.id, shell(f"sleep 300 & (trap '' TERM; {WAITING})"))
    boxes = {box.id for box in platform.sessions._deps.registry.open[session.id].environment.files._boxes}  # type: ignore[attr-defined]
    await sessions.pause(session.id)
    async with asyncio.timeout(WITHIN_S):
        assert (await sessions.terminate(session.id)).state is SessionState.terminated
    assert (await sessions.executions.get(running)).state is ExecutionState.crashed
    assert not [path for path in groups_of(os.getpid()) if any(f"/{box}_" in path for box in boxes)]


@pytest.mark.attack
async def test_paused_executions_keep_nobody_from_running_and_come_back_within_the_bound(open_server: Any) -> None:
    async with open_server(max_concurrency=1, queue_size=1, queue_wait_s=0.2) as platform:
        sessions = platform.sessions
        one, other = await sessions.create(SessionSpec()), await sessions.create(SessionSpec())
        environment: Any = sessions._deps.registry.open[one.id].environment
        if environment.files.no_pause:
            pytest.skip(f"this host cannot pause: {environment.files.no_pause}")
        first = await start_and_wait_for_output(sessions, one.id, shell(WAITING))
        await sessions.pause(one.id)
        second = await start_and_wait_for_output(sessions, other.id, shell(WAITING))
        assert sessions._deps.admission.busy == 1
        with pytest.raises(TooMany):
            await sessions.resume(one.id)
        assert (await sessions.get(one.id)).state is SessionState.paused
        await say(sessions, other.id)
        assert (await sessions.executions.wait(second, WITHIN_S)).state is ExecutionState.completed
        await sessions.resume(one.id)
        await say(sessions, one.id)
        assert (await sessions.executions.wait(first, WITHIN_S)).state is ExecutionState.completed
        assert sessions._deps.admission.busy == 0


@pytest.mark.attack
async def test_a_paused_session_still_counts_and_its_lifetime_runs_on(open_server: Any) -> None:
    async with open_server(session_max=1) as platform:
        sessions = platform.sessions
        made = await sessions.create(SessionSpec(lifetime_s=3600, idle_timeout_s=60))
        environment: Any = sessions._deps.registry.open[made.id].environment
        if environment.files.no_pause:
            pytest.skip(f"this host cannot pause: {environment.files.no_pause}")
        context = await sessions.contexts.open(made.id)
        assert context.alive
        await sessions.pause(made.id)
        with pytest.raises(TooMany):
            await sessions.create(SessionSpec())
        await sessions._janitor.sweep(made.created_ms + 600_000)
        assert (await sessions.get(made.id)).state is SessionState.paused
        await sessions._janitor.sweep(made.created_ms + 3_601_000)
        assert (await sessions.get(made.id)).state is SessionState.timeout
        assert environment.closed


async def test_a_persistent_session_that_was_paused_runs_with_the_next_server(open_server: Any) -> None:
    async with open_server() as platform:
        sessions = platform.sessions
        made = await sessions.create(SessionSpec(mode=SessionMode.persistent))
        await sessions.executions.run(made.id, shell("echo kept > note"))
        try:
            await sessions.pause(made.id)
        except Unavailable as error:
            pytest.skip(str(error))
    async with open_server() as platform:
        assert (await platform.sessions.get(made.id)).state is SessionState.running
        assert (await platform.sessions.executions.run(made.id, shell("cat note"))).stdout == "kept\n"


async def test_where_it_cannot_be_done_the_session_runs_on_and_the_reason_is_told(sessions: Sessions) -> None:
    made = await sessions.create(SessionSpec())
    environment: Any = sessions._deps.registry.open[made.id].environment
    environment.files.no_pause = environment.files.no_pause or "there is no freezer; have one"
    with pytest.raises(Unavailable, match=r"cannot be paused: .*; "):
        await sessions.pause(made.id)
    assert (await sessions.executions.run(made.id, shell("echo on"))).stdout == "on\n"
    await sessions.delete(made.id)
