"""Terminals: executions that are followed and cancelled like others and delay none."""

from __future__ import annotations

import asyncio

import pytest

from sandbox_runtime.engine.terminals import Size
from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, TooMany
from sandbox_runtime.model import ExecutionKind, ExecutionState
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec
from sandbox_runtime.sessions.registry import MAX_TERMINALS

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHELL = ExecutionSpec(code="", kind=ExecutionKind.command, terminal=Size(), timeout_s=60)


async def wait_for_text(sessions: Sessions, execution_id: str, text: bytes) -> None:
    shown = b""
    async with asyncio.timeout(30):
        async for piece in sessions.executions.output(execution_id):
            shown += piece.data
            if text in shown:
                return
    raise AssertionError(shown)


async def test_what_is_typed_is_run_and_what_appears_is_the_output(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    shell = await sessions.executions.submit(session.id, SHELL)
    await sessions.terminals.send_keys(shell.id, b"echo on $((6*7)) > note; cat note\n")
    await wait_for_text(sessions, shell.id, b"on 42")
    await sessions.terminals.resize(shell.id, Size(40, 100))
    await sessions.terminals.send_keys(shell.id, b"stty size; exit 3\n")
    ended = await sessions.executions.wait(shell.id, 30)
    assert ended.state is ExecutionState.failed and ended.exit_code == 3 and "40 100" in ended.stdout
    with pytest.raises(Conflict, match="ended"):
        await sessions.terminals.send_keys(shell.id, b"x")


async def test_a_shell_that_waits_for_keys_is_in_nobodys_way(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    shells = [await sessions.executions.submit(session.id, SHELL) for _ in range(MAX_TERMINALS)]
    done = await sessions.executions.run(session.id, ExecutionSpec(code="print('by the way')"), wait_s=30)
    assert done.stdout == "by the way\n"
    with pytest.raises(TooMany):
        await sessions.executions.submit(session.id, SHELL)
    assert {(await sessions.executions.cancel(shell.id)).state for shell in shells} == {ExecutionState.cancelled}


async def test_a_session_that_ends_takes_its_terminals_along(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    shell = await sessions.executions.submit(session.id, SHELL)
    await sessions.terminate(session.id)
    assert (await sessions.executions.get(shell.id)).state.ended


async def test_nobody_types_on_the_terminal_of_somebody_else(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec(), "ann")
    shell = await sessions.executions.submit(session.id, SHELL, "ann")
    for call in (sessions.terminals.send_keys(shell.id, b"x", "bob"), sessions.terminals.resize(shell.id, Size(), "bob")):
        with pytest.raises(NotFound):
            await call
    await sessions.delete(session.id, "ann")


async def test_an_execution_without_a_terminal_takes_no_keys(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    running = await sessions.executions.submit(session.id, ExecutionSpec(code="import time; time.sleep(30)"))
    with pytest.raises(Conflict, match="no terminal"):
        await sessions.terminals.send_keys(running.id, b"x")
    await sessions.delete(session.id)


async def test_only_commands_have_a_terminal() -> None:
    with pytest.raises(InvalidRequest, match="only commands"):
        ExecutionSpec(code="print(1)", terminal=Size())
