"""Executions from request to stored result.

An execution passes these steps:

1. It is accepted: validated, and queued in its session. Its row is stored before a client learns its id, so that an acknowledged
   execution is known after a crash.
2. It waits for its turn in the session, then for a slot on the machine.
3. It runs. Only platform faults are retried, and only while the program has printed nothing.
4. Its end is stored before anybody is notified (see writer.py).

Each execution is a task of the executor: a client that disconnects cancels nothing.
"""

from __future__ import annotations

import asyncio
import dataclasses

from sandbox_runtime import timestamps
from sandbox_runtime.engine.environments import RunRequest
from sandbox_runtime.errors import NotFound, SandboxError
from sandbox_runtime.model import AuditEntry, Execution, ExecutionKind, ExecutionState
from sandbox_runtime.sessions import ids
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.executions.output import OutputLog
from sandbox_runtime.sessions.executions.recent import RecentExecutions
from sandbox_runtime.sessions.executions.runner import CANCELLED, ExecutionRunner, PlannedExecution
from sandbox_runtime.sessions.executions.slots import ExecutionSlots
from sandbox_runtime.sessions.executions.writer import ExecutionWriter
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.registry import LiveContext, LiveExecution, LiveSession, Slots
from sandbox_runtime.sessions.specs import ExecutionSpec

STOP_WITHIN_S = 30.0


class Executor:
    def __init__(self, deps: SessionDeps) -> None:
        self._deps = deps
        self._writer = ExecutionWriter(deps.store)
        self._recent = RecentExecutions(deps.options.output_linger_s)
        self.slots = ExecutionSlots(deps)
        self._runner = ExecutionRunner(deps, self._writer, self.slots, self._recent)

    async def submit(self, live: LiveSession, spec: ExecutionSpec, actor: str = "") -> LiveExecution | Execution:
        """As `start`, and return once the row is stored."""
        execution = await self.start(live, spec, actor)
        if isinstance(execution, LiveExecution):
            try:
                await self._writer.ensure_inserted(execution)
            except SandboxError:
                await self.stop(execution, "it could not be stored")
                raise
        return execution

    async def start(self, live: LiveSession, spec: ExecutionSpec, actor: str = "") -> LiveExecution | Execution:
        """Start an execution. If the session knows its idempotency key, return the earlier execution instead."""
        live.check_running()
        storage.check_capacity(self._deps, live)
        context = _find_context(live, spec)
        wall_s = run_request.resolve_timeout(live.session, spec, self._deps.options)
        row = _new_row(live, spec, wall_s)
        request = run_request.build_run_request(live.session, spec, wall_s, row.id, live.modules, self._deps.options)
        run = live.environment.check(request) if context is None else None
        slots = _slots_for(live, request, context)
        planned = PlannedExecution(spec, run, context, slots, slots.reserve())
        if planned.turn.done():
            row = dataclasses.replace(row, state=ExecutionState.running, started_ms=row.created_ms)
        audit = entry(actor, "execute", "execution", row.id, owner=live.session.owner, session=live.id)
        execution = LiveExecution(
            row, OutputLog(), asyncio.get_running_loop().create_future(), terminal=request.terminal, pending_audit=audit
        )
        if spec.idempotency_key:
            if not await self._insert_once(execution, planned, audit):
                return self.find(execution.row.id) or execution.row
        else:
            self._writer.insert_later(execution)
        live.touch()
        live.executions[row.id] = execution
        execution.task = asyncio.create_task(self._runner.perform(live, execution, planned))
        return execution

    def find(self, execution_id: str) -> LiveExecution | None:
        """Return an execution that is live or ended a moment ago."""
        recent = self._recent.get(execution_id)
        return recent or next((live.executions[execution_id] for live in self._open() if execution_id in live.executions), None)

    async def wait(self, execution: LiveExecution, wait_s: float) -> Execution:
        """Return the row when the execution has ended, or as it is after `wait_s`."""
        await asyncio.wait((execution.done,), timeout=wait_s)
        if execution.done.done():
            return execution.done.result()
        await self._writer.ensure_inserted(execution)
        return execution.row

    async def cancel(self, execution_id: str, reason: str = CANCELLED) -> None:
        """Stop an execution if it is live, and return when it has ended."""
        execution = self.find(execution_id)
        if execution is not None:
            await self.stop(execution, reason)

    async def stop(self, execution: LiveExecution, reason: str) -> None:
        """Stop an execution and return when it has ended. Its task is cancelled once: after that it stores the end."""
        if execution.task is not None and not execution.done.done() and not execution.stop_reason:
            execution.stop_reason = reason
            await asyncio.sleep(0)  # a task that is cancelled before its first step never runs, so it would not store an end
            execution.task.cancel()
        await asyncio.wait((execution.done,), timeout=STOP_WITHIN_S)

    async def stop_all(self, live: LiveSession, reason: str) -> None:
        await asyncio.gather(*(self.stop(execution, reason) for execution in list(live.executions.values())))

    @property
    def output_bytes(self) -> int:
        """Output held of executions that are live or ended a moment ago."""
        live = sum(execution.output.size_bytes for live in self._open() for execution in live.executions.values())
        return self._recent.size_bytes + live

    def forget_all(self) -> None:
        """Forget the output of ended executions."""
        self._recent.clear()

    def _open(self) -> list[LiveSession]:
        return list(self._deps.registry.open.values())

    async def _insert_once(self, execution: LiveExecution, planned: PlannedExecution, audit: AuditEntry) -> bool:
        """Store the row, or replace it by the earlier one with the same idempotency key. Return whether it is new."""
        try:
            execution.row, new = await self._deps.store.executions.add_once(execution.row, by=audit.actor, audit=audit)
        except BaseException:
            planned.slots.abandon(planned.turn)
            raise
        if new:
            execution.pending_audit = None
        else:
            planned.slots.abandon(planned.turn)
        return new


def _find_context(live: LiveSession, spec: ExecutionSpec) -> LiveContext | None:
    if spec.kind is not ExecutionKind.cell:
        return None
    context = live.contexts.get(spec.context)
    if context is None:
        raise NotFound(f"the session {live.id!r} has no context {spec.context!r}")
    return context


def _new_row(live: LiveSession, spec: ExecutionSpec, wall_s: float) -> Execution:
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


def _slots_for(live: LiveSession, request: RunRequest, context: LiveContext | None) -> Slots:
    if request.terminal is not None:
        return live.terminals
    return live.slots if context is None else context.slots
