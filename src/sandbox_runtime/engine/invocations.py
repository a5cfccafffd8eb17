"""Handlers without a session: each call runs in a fresh box of the pool and leaves nothing behind."""

from __future__ import annotations

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.engine.environments import RunPlanner, RunRequest, RunResult
from sandbox_runtime.engine.handlers import HandlerCall, run_call
from sandbox_runtime.engine.pools.box_pool import BoxPool
from sandbox_runtime.engine.run.task_runner import DEAD_ON_ARRIVAL_S
from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model import Blame, Policy


class Invocations:
    def __init__(self, pool: BoxPool, admission: Admission, planner: RunPlanner) -> None:
        self._pool = pool
        self._admission = admission
        self._planner = planner

    async def invoke(self, request: RunRequest, sink: Sink | None = None) -> RunResult:
        """Call a handler. Raises TooMany if no slot becomes free in time. A box that was dead on arrival is replaced once."""
        if not self._planner.is_handler_call(request):
            raise InvalidRequest("only handlers can be invoked")
        policy, made = self._planner.handler_call(request)
        entered = await self._admission.enter()
        try:
            return await self._called(policy, made, sink) or await self._in_a_box(policy, made, sink)
        finally:
            self._admission.leave(entered)

    async def _called(self, policy: Policy, made: HandlerCall, sink: Sink | None) -> RunResult | None:
        """Return None if another box should be tried."""
        try:
            ran = await self._in_a_box(policy, made, sink)
        except PlatformFault:
            if sink is not None:
                raise
            return None
        early = ran.outcome.blame is Blame.platform and ran.outcome.usage.wall_s < DEAD_ON_ARRIVAL_S
        return None if early and policy.network.mode == "none" else ran

    async def _in_a_box(self, policy: Policy, made: HandlerCall, sink: Sink | None) -> RunResult:
        box = await self._pool.take(policy)
        try:
            called = await run_call(box, made, sink)
        except PlatformFault:
            self._pool.drop_idle(policy)
            raise
        finally:
            await self._pool.discard(policy, box)
        if called.outcome.blame is Blame.platform:
            self._pool.drop_idle(policy)
        return RunResult(called.outcome, None, called.handler_result)
