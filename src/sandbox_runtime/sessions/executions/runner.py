"""Runs one accepted execution: waits for its turn, runs it with retries, stores its end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox_runtime import timestamps
from sandbox_runtime.engine.environments import PlannedRun, RunResult
from sandbox_runtime.engine.fifo import Turn
from sandbox_runtime.engine.run.command import is_dead_on_arrival
from sandbox_runtime.errors import NotFound, PlatformFault, SandboxError
from sandbox_runtime.model import ExecutionState, SessionMode
from sandbox_runtime.retry import Backoff, retry
from sandbox_runtime.sessions.executions import artifacts, result
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.specs import ExecutionSpec

if TYPE_CHECKING:
    from sandbox_runtime.sessions.deps import SessionDeps
    from sandbox_runtime.sessions.executions.recent import RecentExecutions
    from sandbox_runtime.sessions.executions.slots import ExecutionSlots
    from sandbox_runtime.sessions.executions.writer import ExecutionWriter
    from sandbox_runtime.sessions.registry import LiveContext, LiveExecution, LiveSession, Slots

CANCELLED, SHUT_DOWN = "cancelled", "the server was shut down while it ran"


@dataclass(frozen=True, slots=True)
class PlannedExecution:
    """An accepted execution. `turn` is its reservation in `slots`."""

    spec: ExecutionSpec
    run: PlannedRun | None
    """None for a cell, which runs in `context`."""
    context: LiveContext | None
    slots: Slots
    turn: Turn


class ExecutionRunner:
    def __init__(self, deps: SessionDeps, writer: ExecutionWriter, slots: ExecutionSlots, recent: RecentExecutions) -> None:
        self._deps = deps
        self._writer = writer
        self._slots = slots
        self._recent = recent

    async def perform(self, live: LiveSession, execution: LiveExecution, planned: PlannedExecution) -> None:
        """Run an execution, store its end and notify those who wait for it."""
        try:
            fields = await self._run_to_end(live, execution, planned)
        finally:
            planned.slots.abandon(planned.turn)
        await self._finish(live, execution, fields)

    async def _run_to_end(self, live: LiveSession, execution: LiveExecution, planned: PlannedExecution) -> result.Fields:
        """Return the fields of the row's end, whatever happened."""
        try:
            waited = not planned.turn.done()
            await planned.turn
            if waited:
                await self._mark_running(execution)
            async with self._slots.hold(live, execution) if execution.terminal is None else contextlib.nullcontext():
                if planned.context is not None:
                    return await self._run_cell(execution, planned.spec, planned.context)
                assert planned.run is not None
                return await self._run(live, execution, planned.spec, planned.run)
        except asyncio.CancelledError:
            return self._stopped_fields(execution)
        except PlatformFault as fault:
            return result.from_fault(str(fault), *self._partial_output(execution))
        except SandboxError as refusal:
            return result.from_refusal(str(refusal))
        except Exception as error:
            self._deps.log.exception("an execution failed in an unforeseen way", execution=execution.row.id)
            return result.from_fault(f"an unforeseen fault: {type(error).__name__}", *self._partial_output(execution))

    async def _mark_running(self, execution: LiveExecution) -> None:
        """Store that an execution which had to wait runs now. One that did not wait was stored as running."""
        await self._writer.ensure_inserted(execution)
        now_ms = timestamps.now_ms()
        execution.row = await self._deps.store.executions.update(
            execution.row, state=ExecutionState.running, started_ms=now_ms, heartbeat_ms=now_ms
        )

    async def _run_cell(self, execution: LiveExecution, spec: ExecutionSpec, context: LiveContext) -> result.Fields:
        clock = context.interpreter.box.clock
        context.executions += 1
        started_at = clock.time()
        cell = await context.interpreter.execute(spec.code, wall_s=execution.row.timeout_s, sink=execution.output.write)
        return result.from_cell(cell, clock.time() - started_at)

    async def _run(self, live: LiveSession, execution: LiveExecution, spec: ExecutionSpec, planned: PlannedRun) -> result.Fields:
        options = self._deps.options
        before = await artifacts.scan(live.environment.files) if spec.artifacts else {}
        attempts = itertools.count()
        run_result = await retry(
            lambda: self._attempt(live, execution, planned, last=next(attempts) == options.retries),
            Backoff(options.retries, options.retry_first_s, max_s=options.retry_max_s),
            retry_result=lambda run_result: run_result is None,
            before_retry=lambda number, _: self._record_retry(execution, number),
        )
        assert run_result is not None, "the last attempt returns a result or raises"
        if spec.artifacts:
            execution.artifacts = await artifacts.collect(live.environment.files, before, execution.row.id, timestamps.now_ms())
        return result.from_run(spec.kind, run_result)

    async def _attempt(self, live: LiveSession, execution: LiveExecution, planned: PlannedRun, *, last: bool) -> RunResult | None:
        """Return the result, or None if the platform failed before the program printed anything and a retry is left."""
        try:
            run_result = await live.environment.run(planned, execution.output.write)
        except PlatformFault:
            if last or not execution.output.empty or live.closing:
                raise
            return None
        retryable = is_dead_on_arrival(run_result.outcome) and execution.output.empty and not last and not live.closing
        return None if retryable else run_result

    async def _record_retry(self, execution: LiveExecution, number: int) -> None:
        self._deps.metrics.record_retry()
        await self._writer.ensure_inserted(execution)
        execution.row = await self._deps.store.executions.update(execution.row, retries=number)

    def _stopped_fields(self, execution: LiveExecution) -> result.Fields:
        output = self._partial_output(execution)
        if execution.stop_reason == CANCELLED:
            return result.from_cancellation(*output)
        return result.from_fault(execution.stop_reason or SHUT_DOWN, *output)

    def _partial_output(self, execution: LiveExecution) -> tuple[str, str]:
        max_bytes = self._deps.options.max_output_bytes
        return execution.output.text("stdout", max_bytes), execution.output.text("stderr", max_bytes)

    async def _finish(self, live: LiveSession, execution: LiveExecution, fields: result.Fields) -> None:
        """Save the files of a persistent session, then store the end, then notify."""
        try:
            if live.session.mode is SessionMode.persistent and not live.environment.closed:
                fields = {**fields, **await self._save_files(live, fields)}
            await self._writer.write_end(execution, {**fields, "completed_ms": timestamps.now_ms()})
        except Exception as error:
            # The session may have been deleted: then its executions are not stored any more.
            log = self._deps.log.info if isinstance(error, NotFound) else self._deps.log.error
            log("the end of an execution could not be written", execution=execution.row.id, reason=str(error))
            execution.done.set_exception(
                error if isinstance(error, SandboxError) else PlatformFault("its end could not be stored")
            )
            execution.done.exception()  # marks it as retrieved: nobody may be waiting
        else:
            execution.done.set_result(execution.row)
        self._release(live, execution)

    async def _save_files(self, live: LiveSession, fields: result.Fields) -> result.Fields:
        """Save a snapshot. Return an error for the execution if that fails and it has no error itself."""
        try:
            await self._deps.snapshots.save(live.id, live.environment.files, live.session.owner)
        except (SandboxError, OSError) as error:
            self._deps.log.error("the files of a session could not be kept", session=live.id, reason=str(error))
            return {"error": fields.get("error") or f"its files were not saved and would be lost with the server: {error}"[:2000]}
        return {}

    def _release(self, live: LiveSession, execution: LiveExecution) -> None:
        row = execution.row
        execution.output.end()
        storage.measure(self._deps, live)
        live.touch()
        live.executions.pop(row.id, None)
        self._recent.add(execution)
        took_s = max(0, (row.completed_ms or 0) - (row.started_ms or row.created_ms)) / 1000
        self._deps.metrics.record_execution(row.kind, row.state, took_s)
        self._deps.recorder.record_execution(row)
