"""The call that judges one completion."""

from __future__ import annotations

from pydantic import TypeAdapter

from sandbox_runtime.sdk.aio.transport import Transport
from sandbox_runtime.sdk.judge_models import EvalResult, Id, SubmitRequest, TestConfig
from sandbox_runtime.sdk.requests import Request

_EVAL_RESULT = TypeAdapter(EvalResult)
_JUDGE_S = 600.0


class JudgeCalls:
    _transport: Transport

    async def judge_completion(
        self, dataset: str, row: Id, completion: str, config: TestConfig | None = None, *, timeout_s: float = _JUDGE_S
    ) -> EvalResult:
        """Judge a completion. `timeout_s`: how long the verdict may take. Cancelling this call stops the judge."""
        submit = SubmitRequest(dataset=dataset, id=row, completion=completion, config=config or TestConfig())
        request = Request("POST", "/submit", body=submit.model_dump(mode="json", exclude_none=True), timeout_s=timeout_s)
        return await self._transport.call(request, _EVAL_RESULT)
