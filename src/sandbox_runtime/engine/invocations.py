"""Handlers without a session: each call runs in a fresh box of the pool and leaves nothing behind."""

from __future__ import annotations

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.engine.handlers.call import CallResult, HandlerCall, run_call
from sandbox_runtime.engine.run.planner import RunPlanner
from sandbox_runtime.engine.run.request import RunRequest, RunResult
from sandbox_runtime.engine.run.task_runner import TaskRunner
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model.outcome import Outcome


class Invocations:
    def __init__(self, runner: TaskRunner, admission: Admission, planner: RunPlanner) -> None:
        self._runner = runner
        self._admission = admission
        self._planner = planner

    async def invoke(self, request: RunRequest, sink: Sink | None = None) -> RunResult:
        """Call a handler. Raises TooMany if no slot becomes free in time. A box that was dead on arrival is replaced once."""
        if not self._planner.is_handler_call(request):
            raise InvalidRequest("only handlers can be invoked")
        planned = self._planner.handler_call(request)
        call = planned.work
        assert isinstance(call, HandlerCall)
        entered = await self._admission.enter()
        try:
            result = await self._runner.use_box(
                planned.policy, lambda box: run_call(box, call, sink), _outcome, retry=sink is None
            )
        finally:
            self._admission.leave(entered)
        return RunResult(result.outcome, None, result.handler_result)


def _outcome(result: CallResult) -> Outcome:
    return result.outcome
