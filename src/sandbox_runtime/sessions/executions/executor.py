"""Executions: asked for, in line, run, written down.

The way of one: its row is written before anybody is told of it (an execution that was acknowledged is known after a crash), it
waits for its turn in the session and for a place on the machine, runs, and its end is written before anybody is told of that
(see writer.py). Each is a task that this object owns, so that a client who goes away takes nothing along. Only faults of
this platform are tried again, and only while nothing of the program was seen.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import itertools
from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.engine.environments import PlannedRun, RunRequest, RunResult
from sandbox_runtime.engine.run.command import is_dead_on_arrival
from sandbox_runtime.errors import NotFound, PlatformFault, SandboxError
from sandbox_runtime.model import Execution, ExecutionKind, ExecutionState, SessionMode
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.retry import Backoff, retry
from sandbox_runtime.sessions import ids
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import artifacts, result, run_request
from sandbox_runtime.sessions.executions.output import OutputLog
from sandbox_runtime.sessions.executions.slots import ExecutionSlots
from sandbox_runtime.sessions.executions.writer import ExecutionWriter
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.registry import LiveContext, LiveExecution, LiveSession, Slots
from sandbox_runtime.sessions.specs import ExecutionSpec

STOP_WITHIN_S = 30.0
MAX_LINGERING, MAX_LINGERING_BYTES = 2000, 512 * MIB
"""Executions that ended a moment ago and whose whole output can still be followed."""
CANCELLED, SHUT_DOWN = "cancelled", "the server was shut down while it ran"


@dataclass(frozen=True, slots=True)
class _PlannedExecution:
    spec: ExecutionSpec
    run: PlannedRun | None
    """None for a cell, which runs in its context."""
    context: LiveContext | None


class Executor:
    def __init__(self, deps: SessionDeps) -> None:
        self._deps = deps
        self._writer = ExecutionWriter(deps.store)
        self.slots = ExecutionSlots(deps)
        self._lingering: dict[str, LiveExecution] = {}
        self._lingering_bytes = 0

    async def submit(self, live: LiveSession, spec: ExecutionSpec, actor: str = "") -> LiveExecution | Execution:
        """As start, and its row is written."""
        execution = await self.start(live, spec, actor)
        if isinstance(execution, LiveExecution):
            try:
                await self._writer.ensure_inserted(execution)
            except SandboxError:
                await self.stop(execution, "it could not be written down")
                raise
        return execution

    async def start(self, live: LiveSession, spec: ExecutionSpec, actor: str = "") -> LiveExecution | Execution:
        """The execution under way; with an idempotency key that the session has seen, the row of that time."""
        live.check_running()
        storage.check_capacity(self._deps, live)
        context = self._find_context(live, spec)
        wall_s = run_request.resolve_timeout(live.session, spec, self._deps.options)
        row = self._new_row(live, spec, wall_s)
        request = run_request.build_run_request(live.session, spec, wall_s, row.id, live.modules, self._deps.options)
        planned = _PlannedExecution(spec, live.home.check(request) if context is None else None, context)
        slots = _slots_for(live, request, context)
        turn = slots.reserve()
        if turn.done():
            row = dataclasses.replace(row, state=ExecutionState.running, started_ms=row.created_ms)
        pending_audit = entry(actor, "execute", "execution", row.id, owner=live.session.owner, session=live.id)
        execution = LiveExecution(
            row, OutputLog(), asyncio.get_running_loop().create_future(), terminal=request.terminal, pending_audit=pending_audit
        )
        if spec.idempotency_key:
            try:
                execution.row, new = await self._deps.store.executions.add_once(row, by=actor, audit=pending_audit)
            except BaseException:
                slots.abandon(turn)
                raise
            if not new:
                slots.abandon(turn)
                return self.find(execution.row.id) or execution.row
            execution.pending_audit = None
        else:
            self._writer.insert_later(execution)
        live.touch()
        live.executions[row.id] = execution
        execution.task = asyncio.create_task(self._perform(live, execution, planned, slots, turn))
        return execution

    def find(self, execution_id: str) -> LiveExecution | None:
        """One that lives, or that ended a moment ago."""
        lingering = self._lingering.get(execution_id)
        return lingering or next(
            (live.executions[execution_id] for live in self._open() if execution_id in live.executions), None
        )

    async def wait(self, execution: LiveExecution, wait_s: float) -> Execution:
        """Its end; or how it stands when the time is over."""
        await asyncio.wait((execution.done,), timeout=wait_s)
        if execution.done.done():
            return execution.done.result()
        await self._writer.ensure_inserted(execution)
        return execution.row

    async def cancel(self, execution_id: str, reason: str = CANCELLED) -> None:
        """Returns when it has ended; one that had ended is left as it is."""
        execution = self.find(execution_id)
        if execution is not None:
            await self.stop(execution, reason)

    async def stop(self, execution: LiveExecution, reason: str) -> None:
        """Asked once: what it does after that is to write down its end."""
        if execution.task is not None and not execution.done.done() and not execution.stop_reason:
            execution.stop_reason = reason
            await asyncio.sleep(0)  # a task that is cancelled before its first step never takes it, and so would not end anything
            execution.task.cancel()
        await asyncio.wait((execution.done,), timeout=STOP_WITHIN_S)

    async def stop_all(self, live: LiveSession, reason: str) -> None:
        await asyncio.gather(*(self.stop(execution, reason) for execution in list(live.executions.values())))

    @property
    def output_bytes(self) -> int:
        """What is held of the output of executions that live or ended a moment ago."""
        return self._lingering_bytes + sum(
            execution.output.size_bytes for live in self._open() for execution in live.executions.values()
        )

    def forget_all(self) -> None:
        for execution_id in list(self._lingering):
            self._forget(execution_id)

    def _open(self) -> list[LiveSession]:
        return list(self._deps.registry.open.values())

    def _find_context(self, live: LiveSession, spec: ExecutionSpec) -> LiveContext | None:
        if spec.kind is not ExecutionKind.cell:
            return None
        context = live.contexts.get(spec.context)
        if context is None:
            raise NotFound(f"the session {live.id!r} has no context {spec.context!r}")
        return context

    def _new_row(self, live: LiveSession, spec: ExecutionSpec, wall_s: float) -> Execution:
        now_ms = timestamps.now_ms()
        return Execution(
            id=ids.execution_id(),
            session=live.id,
            kind=spec.kind,
            language=spec.language,
            code=spec.code,
            entrypoint="handler" if spec.kind is ExecutionKind.handler else spec.filename,
            event_json=spec.event_json(),
            stdin=spec.stdin,
            env=spec.env,
            timeout_s=wall_s,
            context=spec.context,
            idempotency_key=spec.idempotency_key,
            created_ms=now_ms,
            heartbeat_ms=now_ms,
        )

    async def _perform(
        self, live: LiveSession, execution: LiveExecution, planned: _PlannedExecution, slots: Slots, turn: asyncio.Future[None]
    ) -> None:
        try:
            fields = await self._run_to_end(live, execution, planned, turn)
        finally:
            slots.abandon(turn)
        await self._finish(live, execution, fields)

    async def _run_to_end(
        self, live: LiveSession, execution: LiveExecution, planned: _PlannedExecution, turn: asyncio.Future[None]
    ) -> result.Fields:
        """How it ended, whatever happened."""
        try:
            at_once = turn.done()
            await turn
            await self._mark_running(execution, at_once=at_once)
            async with self.slots.hold(live, execution) if execution.terminal is None else contextlib.nullcontext():
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

    async def _mark_running(self, execution: LiveExecution, *, at_once: bool) -> None:
        """One that had to wait says that it runs; one whose turn was at once said so when it was noted."""
        if not at_once:
            await self._writer.ensure_inserted(execution)
            now_ms = timestamps.now_ms()
            execution.row = await self._deps.store.executions.update(
                execution.row, state=ExecutionState.running, started_ms=now_ms, heartbeat_ms=now_ms
            )

    async def _run_cell(self, execution: LiveExecution, spec: ExecutionSpec, context: LiveContext) -> result.Fields:
        clock = context.context.box.clock
        context.executions += 1
        begun = clock.time()
        cell = await context.context.execute(spec.code, wall_s=execution.row.timeout_s, sink=execution.output.write)
        return result.from_cell(cell, clock.time() - begun)

    async def _run(self, live: LiveSession, execution: LiveExecution, spec: ExecutionSpec, planned: PlannedRun) -> result.Fields:
        options = self._deps.options
        before = await artifacts.scan(live.home.files) if spec.artifacts else {}
        attempts = itertools.count()
        ran = await retry(
            lambda: self._attempt(live, execution, planned, last=next(attempts) == options.retries),
            Backoff(options.retries, options.retry_first_s, max_s=options.retry_max_s),
            retry_result=lambda ran: ran is None,
            before_retry=lambda number, _: self._record_retry(execution, number),
        )
        assert ran is not None, "the last attempt returns a result or raises"
        if spec.artifacts:
            execution.artifacts = await artifacts.collect(live.home.files, before, execution.row.id, timestamps.now_ms())
        return result.from_run(spec.kind, ran)

    async def _attempt(self, live: LiveSession, execution: LiveExecution, planned: PlannedRun, *, last: bool) -> RunResult | None:
        """None where the platform failed before anything of the program was seen, and there is another attempt to make."""
        try:
            ran = await live.home.run(planned, execution.output.write)
        except PlatformFault:
            if last or not execution.output.empty or live.closing:
                raise
            return None
        early = is_dead_on_arrival(ran.outcome) and execution.output.empty
        return None if early and not last and not live.closing else ran

    async def _record_retry(self, execution: LiveExecution, number: int) -> None:
        self._deps.metrics.record_retry()
        await self._writer.ensure_inserted(execution)
        execution.row = await self._deps.store.executions.update(execution.row, retries=number)

    def _stopped_fields(self, execution: LiveExecution) -> result.Fields:
        printed = self._partial_output(execution)
        if execution.stop_reason == CANCELLED:
            return result.from_cancellation(*printed)
        return result.from_fault(execution.stop_reason or SHUT_DOWN, *printed)

    def _partial_output(self, execution: LiveExecution) -> tuple[str, str]:
        max_bytes = self._deps.options.output_bytes
        return execution.output.text("stdout", max_bytes), execution.output.text("stderr", max_bytes)

    async def _finish(self, live: LiveSession, execution: LiveExecution, fields: result.Fields) -> None:
        """First the files of a session that outlives us, then the row, then those who wait."""
        try:
            if live.session.mode is SessionMode.persistent and not live.home.closed:
                fields = {**fields, **await self._save_files(live, fields)}
            await self._writer.write_end(execution, {**fields, "completed_ms": timestamps.now_ms()})
        except Exception as error:
            # Whoever deletes a session wants nothing of it to be written any more.
            log = self._deps.log.info if isinstance(error, NotFound) else self._deps.log.error
            log("the end of an execution could not be written", execution=execution.row.id, reason=str(error))
            execution.done.set_exception(
                error if isinstance(error, SandboxError) else PlatformFault("its end could not be written")
            )
            execution.done.exception()  # whoever waits is told; nobody may be waiting
        else:
            execution.done.set_result(execution.row)
        self._release(live, execution)

    async def _save_files(self, live: LiveSession, fields: result.Fields) -> result.Fields:
        """Return what the execution is to say where its files could not be kept, unless it has an error of its own."""
        try:
            await self._deps.snapshots.save(live.id, live.home.files, live.session.owner)
        except (SandboxError, OSError) as error:
            self._deps.log.error("the files of a session could not be kept", session=live.id, reason=str(error))
            return {"error": fields.get("error") or f"its files were not kept and would be lost with the server: {error}"[:2000]}
        return {}

    def _release(self, live: LiveSession, execution: LiveExecution) -> None:
        row = execution.row
        execution.output.end()
        storage.measure(self._deps, live)
        live.touch()
        live.executions.pop(row.id, None)
        self._keep_for_followers(row.id, execution)
        asyncio.get_running_loop().call_later(self._deps.options.output_linger_s, self._forget, row.id)
        took_s = max(0, (row.completed_ms or 0) - (row.started_ms or row.created_ms)) / 1000
        self._deps.metrics.record_execution(row.kind, row.state, took_s)
        self._deps.recorder.record_execution(row)

    def _keep_for_followers(self, execution_id: str, execution: LiveExecution) -> None:
        """The oldest go early where many ended lately, or much was printed."""
        self._lingering[execution_id] = execution
        self._lingering_bytes += execution.output.size_bytes
        while len(self._lingering) > MAX_LINGERING or self._lingering_bytes > MAX_LINGERING_BYTES:
            self._forget(next(iter(self._lingering)))

    def _forget(self, execution_id: str) -> None:
        execution = self._lingering.pop(execution_id, None)
        if execution is not None:
            self._lingering_bytes -= execution.output.size_bytes
            execution.output.close()


def _slots_for(live: LiveSession, request: RunRequest, context: LiveContext | None) -> Slots:
    if request.terminal is not None:
        return live.terminals
    return live.slots if context is None else context.slots
