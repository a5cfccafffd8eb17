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
from sandbox_runtime.engine.environments import RunRequest, RunResult
from sandbox_runtime.errors import NotFound, PlatformFault, SandboxError
from sandbox_runtime.model import Execution, ExecutionKind, ExecutionState, SessionMode
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.retry import Backoff, retry
from sandbox_runtime.sessions import ids
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import Ground
from sandbox_runtime.sessions.executions import artifacts, result, run_request
from sandbox_runtime.sessions.executions.output import Tape
from sandbox_runtime.sessions.executions.slots import Places
from sandbox_runtime.sessions.executions.writer import Rows
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.registry import LiveContext, LiveExecution, LiveSession, Slots
from sandbox_runtime.sessions.specs import ExecutionSpec

STOP_WITHIN_S = 30.0
DEAD_ON_ARRIVAL_S = 0.1
"""A box that broke within this time was broken before it was given anything."""
MOST_LINGERING, MOST_LINGERING_BYTES = 2000, 512 * MIB
"""Executions that ended a moment ago and whose whole output can still be followed."""
CANCELLED, SHUT_DOWN = "cancelled", "the server was shut down while it ran"


@dataclass(frozen=True, slots=True)
class _Asked:
    spec: ExecutionSpec
    work: RunRequest
    context: LiveContext | None


class Executions:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._rows = Rows(ground.store)
        self.places = Places(ground)
        self._lingering: dict[str, LiveExecution] = {}
        self._lingering_bytes = 0

    async def submit(self, live: LiveSession, spec: ExecutionSpec, actor: str = "") -> LiveExecution | Execution:
        """As start, and its row is written."""
        one = await self.start(live, spec, actor)
        if isinstance(one, LiveExecution):
            try:
                await self._rows.noted(one)
            except SandboxError:
                await self.stop(one, "it could not be written down")
                raise
        return one

    async def start(self, live: LiveSession, spec: ExecutionSpec, actor: str = "") -> LiveExecution | Execution:
        """The execution under way; with an idempotency key that the session has seen, the row of that time."""
        live.check_running()
        storage.check_room(self._ground, live)
        context = self._context(live, spec)
        wall_s = run_request.time_of(live.session, spec, self._ground.options)
        execution = self._row(live, spec, wall_s)
        work = run_request.work_of(live.session, spec, wall_s, execution.id, live.modules, self._ground.options)
        if context is None:
            live.home.check(work)
        slots = _slots(live, work, context)
        turn = slots.reserve()
        if turn.done():
            execution = dataclasses.replace(execution, state=ExecutionState.running, started_ms=execution.created_ms)
        birth = entry(actor, "execute", "execution", execution.id, owner=live.session.owner, session=live.id)
        one = LiveExecution(execution, Tape(), asyncio.get_running_loop().create_future(), terminal=work.terminal, birth=birth)
        if spec.idempotency_key:
            try:
                one.execution, new = await self._ground.store.executions.add_once(execution, by=actor, audit=birth)
            except BaseException:
                slots.abandon(turn)
                raise
            if not new:
                slots.abandon(turn)
                return self.found(one.execution.id) or one.execution
            one.birth = None
        else:
            self._rows.soon(one)
        live.touch()
        live.executions[execution.id] = one
        one.task = asyncio.create_task(self._perform(live, one, _Asked(spec, work, context), slots, turn))
        return one

    def found(self, execution_id: str) -> LiveExecution | None:
        """One that lives, or that ended a moment ago."""
        lingering = self._lingering.get(execution_id)
        return lingering or next((one.executions[execution_id] for one in self._open() if execution_id in one.executions), None)

    async def wait(self, one: LiveExecution, wait_s: float) -> Execution:
        """Its end; or how it stands when the time is over."""
        await asyncio.wait((one.done,), timeout=wait_s)
        if one.done.done():
            return one.done.result()
        await self._rows.noted(one)
        return one.execution

    async def cancel(self, execution_id: str, reason: str = CANCELLED) -> None:
        """Returns when it has ended; one that had ended is left as it is."""
        one = self.found(execution_id)
        if one is not None:
            await self.stop(one, reason)

    async def stop(self, one: LiveExecution, reason: str) -> None:
        """Asked once: what it does after that is to write down its end."""
        if one.task is not None and not one.done.done() and not one.stopped_for:
            one.stopped_for = reason
            await asyncio.sleep(0)  # a task that is cancelled before its first step never takes it, and so would not end anything
            one.task.cancel()
        await asyncio.wait((one.done,), timeout=STOP_WITHIN_S)

    async def stop_all(self, live: LiveSession, reason: str) -> None:
        await asyncio.gather(*(self.stop(one, reason) for one in list(live.executions.values())))

    @property
    def output_bytes(self) -> int:
        """What is held of the output of executions that live or ended a moment ago."""
        return self._lingering_bytes + sum(one.tape.size_bytes for live in self._open() for one in live.executions.values())

    def forget_all(self) -> None:
        for execution_id in list(self._lingering):
            self._forget(execution_id)

    def _open(self) -> list[LiveSession]:
        return list(self._ground.directory.open.values())

    def _context(self, live: LiveSession, spec: ExecutionSpec) -> LiveContext | None:
        if spec.kind is not ExecutionKind.cell:
            return None
        found = live.contexts.get(spec.context)
        if found is None:
            raise NotFound(f"the session {live.id!r} has no context {spec.context!r}")
        return found

    def _row(self, live: LiveSession, spec: ExecutionSpec, wall_s: float) -> Execution:
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
        self, live: LiveSession, one: LiveExecution, asked: _Asked, slots: Slots, turn: asyncio.Future[None]
    ) -> None:
        try:
            fields = await self._fields(live, one, asked, turn)
        finally:
            slots.abandon(turn)
        await self._conclude(live, one, fields)

    async def _fields(self, live: LiveSession, one: LiveExecution, asked: _Asked, turn: asyncio.Future[None]) -> result.Fields:
        """How it ended, whatever happened."""
        try:
            at_once = turn.done()
            await turn
            await self._begin(one, at_once=at_once)
            async with self.places.held(live, one) if asked.work.terminal is None else contextlib.nullcontext():
                if asked.context is not None:
                    return await self._cell(one, asked.spec, asked.context)
                return await self._work(live, one, asked.spec, asked.work)
        except asyncio.CancelledError:
            return self._stopped(one)
        except PlatformFault as fault:
            return result.of_fault(str(fault), *self._printed(one))
        except SandboxError as refusal:
            return result.of_refusal(str(refusal))
        except Exception as error:
            self._ground.log.exception("an execution failed in an unforeseen way", execution=one.execution.id)
            return result.of_fault(f"an unforeseen fault: {type(error).__name__}", *self._printed(one))

    async def _begin(self, one: LiveExecution, *, at_once: bool) -> None:
        """One that had to wait says that it runs; one whose turn was at once said so when it was noted."""
        if not at_once:
            await self._rows.noted(one)
            now_ms = timestamps.now_ms()
            one.execution = await self._ground.store.executions.update(
                one.execution, state=ExecutionState.running, started_ms=now_ms, heartbeat_ms=now_ms
            )

    async def _cell(self, one: LiveExecution, spec: ExecutionSpec, context: LiveContext) -> result.Fields:
        clock = context.context.box.clock
        context.executions += 1
        begun = clock.time()
        cell = await context.context.execute(spec.code, wall_s=one.execution.timeout_s, sink=one.tape.write)
        return result.of_cell(cell, clock.time() - begun)

    async def _work(self, live: LiveSession, one: LiveExecution, spec: ExecutionSpec, work: RunRequest) -> result.Fields:
        options = self._ground.options
        before = await artifacts.seen(live.home.files) if spec.artifacts else {}
        attempts = itertools.count()
        ran = await retry(
            lambda: self._attempt(live, one, work, last=next(attempts) == options.retries),
            Backoff(options.retries, options.retry_first_s, max_s=options.retry_longest_s),
            retry_result=lambda ran: ran is None,
            before_retry=lambda number, _: self._again(one, number),
        )
        assert ran is not None, "the last attempt returns a result or raises"
        if spec.artifacts:
            one.artifacts = await artifacts.left(live.home.files, before, one.execution.id, timestamps.now_ms())
        return result.of_ran(spec.kind, ran)

    async def _attempt(self, live: LiveSession, one: LiveExecution, work: RunRequest, *, last: bool) -> RunResult | None:
        """None where the platform failed before anything of the program was seen, and there is another attempt to make."""
        try:
            ran = await live.home.run(work, one.tape.write)
        except PlatformFault:
            if last or not one.tape.empty or live.ending:
                raise
            return None
        early = result.is_fault(ran) and ran.outcome.usage.wall_s < DEAD_ON_ARRIVAL_S and one.tape.empty
        return None if early and not last and not live.ending else ran

    async def _again(self, one: LiveExecution, number: int) -> None:
        self._ground.metrics.record_retry()
        await self._rows.noted(one)
        one.execution = await self._ground.store.executions.update(one.execution, retries=number)

    def _stopped(self, one: LiveExecution) -> result.Fields:
        printed = self._printed(one)
        if one.stopped_for == CANCELLED:
            return result.of_cancellation(*printed)
        return result.of_fault(one.stopped_for or SHUT_DOWN, *printed)

    def _printed(self, one: LiveExecution) -> tuple[str, str]:
        most = self._ground.options.output_bytes
        return one.tape.text("stdout", most), one.tape.text("stderr", most)

    async def _conclude(self, live: LiveSession, one: LiveExecution, fields: result.Fields) -> None:
        """First the files of a session that outlives us, then the row, then those who wait."""
        try:
            if live.session.mode is SessionMode.persistent and not live.home.closed:
                fields = {**fields, **await self._save(live, fields)}
            await self._rows.ended(one, {**fields, "completed_ms": timestamps.now_ms()})
        except Exception as error:
            # Whoever deletes a session wants nothing of it to be written any more.
            log = self._ground.log.info if isinstance(error, NotFound) else self._ground.log.error
            log("the end of an execution could not be written", execution=one.execution.id, reason=str(error))
            one.done.set_exception(error if isinstance(error, SandboxError) else PlatformFault("its end could not be written"))
            one.done.exception()  # whoever waits is told; nobody may be waiting
        else:
            one.done.set_result(one.execution)
        self._let_go(live, one)

    async def _save(self, live: LiveSession, fields: result.Fields) -> result.Fields:
        """Return what the execution is to say where its files could not be kept, unless it has an error of its own."""
        try:
            await self._ground.snapshots.save(live.id, live.home.files, live.session.owner)
        except (SandboxError, OSError) as error:
            self._ground.log.error("the files of a session could not be kept", session=live.id, reason=str(error))
            return {"error": fields.get("error") or f"its files were not kept and would be lost with the server: {error}"[:2000]}
        return {}

    def _let_go(self, live: LiveSession, one: LiveExecution) -> None:
        execution = one.execution
        one.tape.end()
        storage.measure(self._ground, live)
        live.touch()
        live.executions.pop(execution.id, None)
        self._linger(execution.id, one)
        asyncio.get_running_loop().call_later(self._ground.options.linger_s, self._forget, execution.id)
        took_s = max(0, (execution.completed_ms or 0) - (execution.started_ms or execution.created_ms)) / 1000
        self._ground.metrics.record_execution(execution.kind, execution.state, took_s)
        self._ground.recorder.executed(execution)

    def _linger(self, execution_id: str, one: LiveExecution) -> None:
        """The oldest go early where many ended lately, or much was printed."""
        self._lingering[execution_id] = one
        self._lingering_bytes += one.tape.size_bytes
        while len(self._lingering) > MOST_LINGERING or self._lingering_bytes > MOST_LINGERING_BYTES:
            self._forget(next(iter(self._lingering)))

    def _forget(self, execution_id: str) -> None:
        one = self._lingering.pop(execution_id, None)
        if one is not None:
            self._lingering_bytes -= one.tape.size_bytes
            one.tape.close()


def _slots(live: LiveSession, work: RunRequest, context: LiveContext | None) -> Slots:
    if work.terminal is not None:
        return live.terminals
    return live.slots if context is None else context.slots
