"""Platform faults during executions: retried if that is safe, and never blamed on the program."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sandbox_runtime.assembly import Platform
from sandbox_runtime.engine.environments import Environment, PlannedRun, RunResult
from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model import Blame, Ending, Execution, ExecutionState, Outcome, Usage
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec
from sandbox_runtime.store import ArtifactFilter, ExecutionFilter

pytestmark = pytest.mark.asyncio(loop_scope="session")
SPEC = ExecutionSpec(code="print('ran')")
WITH_FILES = ExecutionSpec(code="open('left', 'w').write('x')\nprint('ran')", artifacts=True)


class FaultyEnvironment:
    """An environment whose first runs have the given outcomes; later runs are real."""

    def __init__(self, environment: Environment, *fates: Exception | RunResult | bytes) -> None:
        self._environment = environment
        self._fates = list(fates)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._environment, name)

    async def run(self, planned: PlannedRun, sink: Sink | None = None) -> RunResult:
        if not self._fates:
            return await self._environment.run(planned, sink)
        fate = self._fates.pop(0)
        if isinstance(fate, bytes):
            assert sink is not None
            sink("stdout", fate)
            raise PlatformFault("the box broke in the middle")
        if isinstance(fate, Exception):
            raise fate
        return fate


@contextmanager
def quick_retries(sessions: Sessions) -> Iterator[None]:
    options = sessions._deps.options
    before = options.retry_first_s
    object.__setattr__(options, "retry_first_s", 0.01)
    try:
        yield
    finally:
        object.__setattr__(options, "retry_first_s", before)


async def run_faulty(sessions: Sessions, *fates: Exception | RunResult | bytes) -> Any:
    session = await sessions.create(SessionSpec())
    live = sessions._deps.registry.open[session.id]
    live.environment = FaultyEnvironment(live.environment, *fates)  # type: ignore[arg-type]
    with quick_retries(sessions):
        done = await sessions.executions.run(session.id, SPEC)
    await sessions.terminate(session.id)
    return done


def lost(wall_s: float) -> RunResult:
    return RunResult(Outcome(Ending.lost, usage=Usage(wall_s=wall_s), message="its spawner died"))


async def test_a_box_that_was_dead_on_arrival_is_replaced_up_to_three_times(platform: Platform) -> None:
    done = await run_faulty(platform.sessions, PlatformFault("no box"), lost(0.01), PlatformFault("no box"))
    assert (done.state, done.stdout, done.retries) == (ExecutionState.completed, "ran\n", 3)


async def test_after_that_the_platform_is_to_blame(platform: Platform) -> None:
    done = await run_faulty(platform.sessions, *[PlatformFault("no box") for _ in range(4)])
    assert (done.state, done.blame, done.retries) == (ExecutionState.crashed, Blame.platform, 3)
    assert done.error == "no box" and done.exit_code is None


async def test_what_may_have_had_effects_is_not_tried_again(platform: Platform) -> None:
    seen = await run_faulty(platform.sessions, b"half of it")
    assert (seen.state, seen.stdout, seen.retries) == (ExecutionState.crashed, "half of it", 0)
    late = await run_faulty(platform.sessions, lost(5.0))
    assert (late.state, late.retries) == (ExecutionState.crashed, 0)


async def test_what_this_host_lacks_is_told_and_not_tried_again(platform: Platform) -> None:
    done = await run_faulty(platform.sessions, Unavailable("no such toolchain here"))
    assert (done.state, done.retries, done.error) == (ExecutionState.failed, 0, "no such toolchain here")


async def test_an_unforeseen_fault_is_ours_and_the_session_goes_on(platform: Platform) -> None:
    sessions = platform.sessions
    session = await sessions.create(SessionSpec())
    live = sessions._deps.registry.open[session.id]
    environment, live.environment = live.environment, FaultyEnvironment(live.environment, ZeroDivisionError("ours"))  # type: ignore[arg-type, assignment]
    done = await sessions.executions.run(session.id, SPEC)
    assert (done.state, done.blame) == (ExecutionState.crashed, Blame.platform) and "ZeroDivisionError" in done.error
    live.environment = environment
    assert (await sessions.executions.run(session.id, SPEC)).stdout == "ran\n"
    await sessions.delete(session.id)


class FailingMethod:
    """A method of the store that fails a few times, before or after it does its work."""

    def __init__(self, method: Callable[..., Awaitable[Execution]], failures: list[str]) -> None:
        self._method = method
        self._failures = failures

    async def __call__(self, *given: Any, **more: Any) -> Execution:
        when = self._failures.pop() if self._failures else ""
        if when == "before":
            raise Unavailable("the database is away")
        done = await self._method(*given, **more)
        if when == "after":
            raise Unavailable("the connection was lost")
        return done


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("told_at_once", [True, False])
async def test_a_result_survives_a_database_that_is_away_for_a_moment(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, when: str, told_at_once: bool
) -> None:
    sessions = platform.sessions
    session = await sessions.create(SessionSpec())
    executions, failures = sessions.store.executions, [when] * 2
    for name in ("add_ended", "end"):
        monkeypatch.setattr(executions, name, FailingMethod(getattr(executions, name), failures))
    if told_at_once:
        submitted = await sessions.executions.submit(session.id, WITH_FILES)
        done = await sessions.executions.wait(submitted.id, 60)
    else:
        done = await sessions.executions.run(session.id, WITH_FILES)
    assert (done.state, done.stdout) == (ExecutionState.completed, "ran\n") and len(failures) < 2
    stored = await sessions.executions.get(done.id)
    # The janitor may have stored a heartbeat while the database failed.
    assert dataclasses.replace(stored, heartbeat_ms=done.heartbeat_ms, updated_ms=done.updated_ms) == done
    rows = await sessions.store.artifacts.list(ArtifactFilter(execution=done.id))
    assert [one.path for one in rows.items] == ["left"]
    await sessions.delete(session.id)


async def test_an_execution_that_takes_a_while_is_known_before_it_ends(platform: Platform) -> None:
    sessions = platform.sessions
    session = await sessions.create(SessionSpec())
    spec = ExecutionSpec(code="import time, os\nwhile not os.path.exists('go'): time.sleep(0.01)")
    running = asyncio.create_task(sessions.executions.run(session.id, spec))
    async with asyncio.timeout(60):
        while not (page := await sessions.executions.list(ExecutionFilter(session=session.id))).items:
            await asyncio.sleep(0.01)
    assert page.items[0].state is ExecutionState.running
    await (await sessions.files.open(session.id)).write("go", b"")
    done = await running
    assert (done.id, done.state) == (page.items[0].id, ExecutionState.completed)
    await sessions.delete(session.id)
