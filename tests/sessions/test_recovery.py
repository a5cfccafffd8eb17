"""Sessions after their server ended, in order or by a crash."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.model import Execution, ExecutionState, Session, SessionMode, SessionState
from sandbox_runtime.sessions import ExecutionSpec, SessionSpec
from sandbox_runtime.timestamps import now_ms

PERSISTENT = SessionMode.persistent


async def test_a_persistent_session_goes_on_with_its_files_after_a_restart(open_server: Any) -> None:
    async with open_server() as platform:
        session = await platform.sessions.create(SessionSpec(mode=PERSISTENT, env={"A": "1"}))
        code = "mkdir -p d; echo kept > d/file; ln -s d/file link; echo home > ~/note; chmod 755 d/file"
        await platform.sessions.executions.run(session.id, ExecutionSpec(language="bash", code=code))
    async with open_server() as platform:
        assert (await platform.sessions.get(session.id)).state is SessionState.running
        code = "cat link ~/note; echo $A; stat -c %a d/file"
        done = await platform.sessions.executions.run(session.id, ExecutionSpec(language="bash", code=code))
        assert done.stdout == "kept\nhome\n1\n755\n"
        await platform.sessions.delete(session.id)
    async with open_server() as platform:
        with pytest.raises(NotFound):
            await platform.sessions.get(session.id)


async def test_files_that_came_from_outside_are_kept_when_that_is_told(open_server: Any) -> None:
    async with open_server() as platform:
        session = await platform.sessions.create(SessionSpec(mode=PERSISTENT))
        await (await platform.sessions.files.open(session.id)).write("given", b"from outside")
        await platform.sessions.files.save(session.id)
    async with open_server() as platform:
        done = await platform.sessions.executions.run(session.id, ExecutionSpec(code="print(open('given').read())"))
        assert done.stdout == "from outside\n"


async def test_an_ephemeral_session_ends_with_its_server_and_says_so(open_server: Any) -> None:
    async with open_server() as platform:
        session = await platform.sessions.create(SessionSpec())
        done = await platform.sessions.executions.run(session.id, ExecutionSpec(code="print('kept')"))
        running = await platform.sessions.executions.submit(
            session.id, ExecutionSpec(code="import time\nprint('x', flush=True)\ntime.sleep(60)")
        )
        async for _ in platform.sessions.executions.output(running.id):
            break
    async with open_server() as platform:
        ended = await platform.sessions.get(session.id)
        assert ended.state is SessionState.failed and "shut down" in ended.error
        assert (await platform.sessions.executions.get(done.id)).stdout == "kept\n"
        crashed = await platform.sessions.executions.get(running.id)
        assert (crashed.state, crashed.stdout) == (ExecutionState.crashed, "x\n") and "shut down" in crashed.error
        assert [piece.data async for piece in platform.sessions.executions.output(done.id, "stdout", offset=2)] == [b"pt\n"]


async def test_rows_that_a_dead_server_left_are_made_true(open_server: Any) -> None:
    """Rows as kill -9 leaves them."""
    async with open_server() as platform:
        store = platform.sessions.store
        for key, state, mode in (
            ("was-creating", SessionState.creating, SessionMode.ephemeral),
            ("was-running", SessionState.running, SessionMode.ephemeral),
            ("was-kept", SessionState.running, PERSISTENT),
        ):
            facts = {"template": "python-basic", "node": "here", "created_ms": now_ms()}
            await store.sessions.add(Session(id=key, state=state, mode=mode, **facts))
            await store.executions.add(Execution(id=f"of-{key}", session=key, state=ExecutionState.running, created_ms=now_ms()))
        await store.nodes.add(
            (await store.nodes.get("here")).__class__(id="elsewhere", hostname="elsewhere", created_ms=1, heartbeat_ms=now_ms())
        )
        await store.sessions.add(
            Session(id="elsewhere", state=SessionState.running, template="python-basic", node="elsewhere", created_ms=now_ms())
        )
    async with open_server() as platform:
        found = {one.id: one for one in (await platform.sessions.list()).items}
        states = {key: one.state for key, one in found.items()}
        assert states == {
            "was-creating": SessionState.failed,
            "was-running": SessionState.failed,
            "was-kept": SessionState.running,
            "elsewhere": SessionState.running,
        }
        assert "ended" in found["was-running"].error
        for key in ("was-creating", "was-running", "was-kept"):
            execution = await platform.sessions.executions.get(f"of-{key}")
            assert execution.state is ExecutionState.crashed and "unknown" in execution.error
        done = await platform.sessions.executions.run("was-kept", ExecutionSpec(code="print('again')"))
        assert done.stdout == "again\n"
        with pytest.raises(Exception, match="another server"):
            await platform.sessions.executions.run("elsewhere", ExecutionSpec(code="1"))
        with pytest.raises(Conflict):
            await platform.sessions.executions.run("was-running", ExecutionSpec(code="1"))
