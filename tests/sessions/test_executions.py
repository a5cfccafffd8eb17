"""Executions in sessions: every kind, queued, cancelled, idempotent, followed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, TooMany
from sandbox_runtime.model import ArtifactKind, Execution, ExecutionKind, ExecutionState, Session
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec
from sandbox_runtime.sessions.executions import writer
from sandbox_runtime.store import ExecutionFilter

pytestmark = pytest.mark.asyncio(loop_scope="session")
COMPLETED, FAILED = ExecutionState.completed, ExecutionState.failed


@pytest.fixture
async def session(sessions: Sessions) -> Session:
    return await sessions.create(SessionSpec())


async def test_a_program_runs_and_its_result_is_in_the_store(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec(env={"WHO": "session"}))
    spec = ExecutionSpec(
        code="import os, sys\nprint(os.environ['WHO'], os.environ['OWN'], input())", env={"OWN": "own"}, stdin="in"
    )
    done = await sessions.executions.run(session.id, spec)
    assert (done.state, done.stdout, done.exit_code) == (COMPLETED, "session own in\n", 0)
    assert await sessions.executions.get(done.id) == done
    assert done.metering is not None and done.metering.duration_ms > 0 and done.started_ms is not None
    await sessions.delete(session.id)


async def test_files_stay_from_one_execution_to_the_next_in_every_language(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    await sessions.executions.run(session.id, ExecutionSpec(code="open('n', 'w').write('41')"))
    command = ExecutionSpec(kind=ExecutionKind.command, code="expr $(cat n) + 1")
    assert (await sessions.executions.run(session.id, command)).stdout == "42\n"
    shell = ExecutionSpec(language="bash", code="cat n; exit 3")
    done = await sessions.executions.run(session.id, shell)
    assert (done.stdout, done.exit_code, done.state) == ("41", 3, FAILED)
    await sessions.delete(session.id)


async def test_handlers_are_called_with_their_event_and_tell_their_value(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    spec = ExecutionSpec(
        kind=ExecutionKind.handler,
        code="def handler(event, context):\n    print('seen')\n    return {'n': event['n'] + 1, 'id': context.request_id}",
        event={"n": 1, "__timeout": 5},
    )
    done = await sessions.executions.run(session.id, spec)
    assert done.return_value_json is not None
    assert json.loads(done.return_value_json) == {"n": 2, "id": done.id}
    assert (done.stdout, done.exit_code, done.timeout_s) == ("seen\n", 0, 5.0)
    missing = await sessions.executions.run(session.id, ExecutionSpec(kind=ExecutionKind.handler, code="x = 1"))
    assert (missing.state, missing.exit_code) == (FAILED, 1) and "handler" in missing.error
    await sessions.delete(session.id)


async def test_time_memory_and_mistakes_are_told_apart(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    slow = await sessions.executions.run(session.id, ExecutionSpec(code="while True: pass", timeout_s=0.3))
    assert slow.state is ExecutionState.timeout
    broken = await sessions.executions.run(session.id, ExecutionSpec(code="1 / 0"))
    assert (broken.state, broken.exit_code) == (FAILED, 1) and "ZeroDivisionError" in broken.stderr
    with pytest.raises((NotFound, InvalidRequest), match="klingon"):
        await sessions.executions.run(session.id, ExecutionSpec(code="x", language="klingon"))
    with pytest.raises(InvalidRequest, match="at most"):
        await sessions.executions.run(session.id, ExecutionSpec(code="x", timeout_s=80_000))
    await sessions.delete(session.id)


async def test_executions_of_a_session_run_one_after_another_in_their_order(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    waits = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\n"
    specs = [ExecutionSpec(code=f"{'' if n else waits}open('log', 'a').write('{n}')") for n in range(5)]
    submitted = [await sessions.executions.submit(session.id, spec) for spec in specs]
    assert [one.state for one in submitted] == [ExecutionState.running, *[ExecutionState.pending] * 4]
    await (await sessions.files.open(session.id)).write("go", b"")
    ended = [await sessions.executions.wait(one.id, 60) for one in submitted]
    assert all(one.state is COMPLETED for one in ended)
    log = await sessions.executions.run(session.id, ExecutionSpec(kind=ExecutionKind.command, code="cat log"))
    assert log.stdout == "01234"
    page = await sessions.executions.list(ExecutionFilter(session=session.id), limit=3)
    assert (page.total, len(page.items), page.items[0].id) == (6, 3, log.id)
    assert (await sessions.executions.latest(session.id)).id == log.id
    await sessions.delete(session.id)


async def test_waiting_ends_and_the_execution_goes_on(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    code = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('late')"
    early = await sessions.executions.run(session.id, ExecutionSpec(code=code), wait_s=0.05)
    assert early.state is ExecutionState.running
    await (await sessions.files.open(session.id)).write("go", b"")
    assert (await sessions.executions.wait(early.id, 60)).stdout == "late\n"
    await sessions.delete(session.id)


async def test_waiting_may_end_while_the_end_is_being_written(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row is stored with its end and not written twice."""
    session = await sessions.create(SessionSpec())
    add, admitted_at, go_on = sessions.store.executions.add_ended, asyncio.Event(), asyncio.Event()

    async def slowly(*given: Any, **named: Any) -> Execution:
        admitted_at.set()
        await go_on.wait()
        return await add(*given, **named)

    monkeypatch.setattr(sessions.store.executions, "add_ended", slowly)
    monkeypatch.setattr(writer, "INSERT_AFTER_S", 600.0)
    waiting = asyncio.create_task(sessions.executions.run(session.id, ExecutionSpec(code="print(1)"), wait_s=0.5))
    await asyncio.wait_for(admitted_at.wait(), 60)
    done, _ = await asyncio.wait([waiting], timeout=1.5)
    go_on.set()
    assert not done and (await waiting).stdout == "1\n"
    await sessions.delete(session.id)


async def test_a_cancelled_execution_says_so_and_keeps_what_it_printed(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    spec = ExecutionSpec(code="import time\nprint('begun', flush=True)\ntime.sleep(60)")
    running = await sessions.executions.submit(session.id, spec)
    waiting = await sessions.executions.submit(session.id, ExecutionSpec(code="print('never')"))
    async for piece in sessions.executions.output(running.id, "stdout"):
        assert piece.data == b"begun\n"
        break
    assert (await sessions.executions.cancel(waiting.id)).state is ExecutionState.cancelled
    done = await sessions.executions.cancel(running.id)
    assert (done.state, done.stdout) == (ExecutionState.cancelled, "begun\n")
    assert (await sessions.executions.cancel(running.id)).state is ExecutionState.cancelled
    assert (await sessions.executions.run(session.id, ExecutionSpec(code="print('next')"))).stdout == "next\n"
    await sessions.delete(session.id)


async def test_one_idempotency_key_is_one_execution(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    spec = ExecutionSpec(code="open('count', 'a').write('x')", idempotency_key="once")
    first, second = await asyncio.gather(sessions.executions.run(session.id, spec), sessions.executions.run(session.id, spec))
    third = await sessions.executions.run(session.id, spec)
    assert first.id == second.id == third.id
    count = await sessions.executions.run(session.id, ExecutionSpec(kind=ExecutionKind.command, code="cat count"))
    assert count.stdout == "x"
    await sessions.delete(session.id)


async def test_output_is_followed_and_taken_up_again_from_any_byte(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    loop = "for n in range(200):\n    print('line', n, flush=True)\n    time.sleep(0.002)"
    code = f"import sys, time\n{loop}\nsys.stderr.write('done')"
    running = await sessions.executions.submit(session.id, ExecutionSpec(code=code))
    seen, lost = b"", 0
    while True:
        async for piece in sessions.executions.output(running.id, "stdout", offset=len(seen)):
            assert piece.offset == len(seen)
            seen += piece.data
            lost += 1
            if lost % 3 == 0:
                break  # the client disconnects
        else:
            break
    expected = "".join(f"line {n}\n" for n in range(200)).encode()
    assert seen == expected
    both = [piece async for piece in sessions.executions.output(running.id)]
    assert b"".join(piece.data for piece in both if piece.stream == "stderr") == b"done"
    await sessions.delete(session.id)


async def test_large_output_is_followed_whole_and_kept_in_part(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    running = await sessions.executions.submit(session.id, ExecutionSpec(code="for n in range(400_000): print(f'{n:09d}')"))
    seen = b"".join([piece.data async for piece in sessions.executions.output(running.id, "stdout")])
    assert seen == b"".join(b"%09d\n" % n for n in range(400_000))
    done = await sessions.executions.get(running.id)
    assert done.stdout_dropped_bytes > 0 and done.stdout.startswith("000000000\n") and done.stdout.endswith("000399999\n")
    await sessions.delete(session.id)


async def test_files_that_an_execution_leaves_are_recorded_on_demand(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    await sessions.executions.run(session.id, ExecutionSpec(code="open('old.txt', 'w').write('old')"))
    code = "mkdir output; printf 1,2 > output/a.csv; touch .hidden; printf new > new.txt"
    done = await sessions.executions.run(session.id, ExecutionSpec(language="bash", code=code, artifacts=True))
    found = {one.path: one for one in await sessions.executions.artifacts(done.id)}
    assert set(found) == {"output/a.csv", "new.txt"}
    assert (found["output/a.csv"].kind, found["output/a.csv"].content_type) == (ArtifactKind.output, "text/csv")
    assert found["new.txt"].size_bytes == 3 and found["new.txt"].checksum.startswith("sha256:")
    await sessions.delete(session.id)


async def test_too_many_in_line_are_refused(open_server: object) -> None:
    async with open_server(session_queue=1) as platform:  # type: ignore[operator]
        sessions = platform.sessions
        session = await sessions.create(SessionSpec())
        for _ in range(2):
            await sessions.executions.submit(session.id, ExecutionSpec(code="import time\ntime.sleep(30)"))
        with pytest.raises(TooMany):
            await sessions.executions.submit(session.id, ExecutionSpec(code="1"))


async def test_nothing_runs_in_a_session_that_has_ended(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    running = await sessions.executions.submit(session.id, ExecutionSpec(code="import time\ntime.sleep(60)"))
    await sessions.terminate(session.id)
    ended = await sessions.executions.get(running.id)
    assert ended.state is ExecutionState.crashed and "ended" in ended.error
    with pytest.raises(Conflict, match="terminated"):
        await sessions.executions.submit(session.id, ExecutionSpec(code="1"))


async def test_what_is_cancelled_in_the_moment_it_is_asked_for_ends_all_the_same(sessions: Sessions) -> None:
    session = await sessions.create(SessionSpec())
    live = sessions._deps.registry.open[session.id]
    for _ in range(5):
        one = await sessions._executor.start(live, ExecutionSpec(code="import time\ntime.sleep(60)"))
        assert not isinstance(one, Execution)
        await sessions._executor.stop(one, "cancelled")
        assert (await sessions.executions.get(one.row.id)).state is ExecutionState.cancelled
    assert (await sessions.executions.run(session.id, ExecutionSpec(code="print('fine')"))).stdout == "fine\n"
    await sessions.delete(session.id)
