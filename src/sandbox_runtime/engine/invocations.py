"""Handlers that belong to no session: each is called in a fresh box of the pool, and nothing of it stays."""

from __future__ import annotations

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.engine.environments import RunPlanner, RunRequest, RunResult
from sandbox_runtime.engine.handlers import HandlerCall, call
from sandbox_runtime.engine.pools.box_pool import BoxPool
from sandbox_runtime.engine.run.task_runner import DEAD_WITHIN_S
from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model import Blame, Policy


class Invocations:
    def __init__(self, pool: BoxPool, admission: Admission, workshop: RunPlanner) -> None:
        self._pool = pool
        self._admission = admission
        self._workshop = workshop

    async def invoke(self, work: RunRequest, sink: Sink | None = None) -> RunResult:
        """Raises TooMany where there is no place for it. A box that was dead before it was given anything is replaced once."""
        if not self._workshop.is_call(work):
            raise InvalidRequest("only what has a handler can be called")
        policy, made = self._workshop.call(work)
        entered = await self._admission.enter()
        try:
            return await self._called(policy, made, sink) or await self._in_a_box(policy, made, sink)
        finally:
            self._admission.leave(entered)

    async def _called(self, policy: Policy, made: HandlerCall, sink: Sink | None) -> RunResult | None:
        """None where another box may do better."""
        try:
            ran = await self._in_a_box(policy, made, sink)
        except PlatformFault:
            if sink is not None:
                raise
            return None
        early = ran.outcome.blame is Blame.platform and ran.outcome.usage.wall_s < DEAD_WITHIN_S
        return None if early and policy.network.mode == "none" else ran

    async def _in_a_box(self, policy: Policy, made: HandlerCall, sink: Sink | None) -> RunResult:
        box = await self._pool.take(policy)
        try:
            called = await call(box, made, sink)
        except PlatformFault:
            self._pool.distrust(policy)
            raise
        finally:
            await self._pool.discard(policy, box)
        if called.outcome.blame is Blame.platform:
            self._pool.distrust(policy)
        return RunResult(called.outcome, None, called.told)
