"""Calls for judge batches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

import httpx
from pydantic import TypeAdapter

from sandbox_runtime.sdk.aio.sessions import API
from sandbox_runtime.sdk.aio.transport import Transport
from sandbox_runtime.sdk.batch_models import BatchResult, BatchStatus, BatchSummary, LineParser
from sandbox_runtime.sdk.execution_bodies import idempotency_header
from sandbox_runtime.sdk.requests import Request, quote_name
from sandbox_runtime.sdk.retry import FailedAttempt, Retries

BATCHES = f"{API}/judge/batches"
_STATUS = TypeAdapter(BatchStatus)
_SUMMARY = TypeAdapter(BatchSummary)
_SEND_S = 600.0
_QUIET_S = 90.0
_POLL_S = 0.5
_MAX_ATTEMPTS = 5


class BatchCalls:
    _transport: Transport

    async def create_batch(
        self,
        dataset: str,
        completions: Iterable[Mapping[str, Any]],
        *,
        config: Mapping[str, Any] | None = None,
        idempotency_key: str = "",
    ) -> BatchStatus:
        """Create a batch. `completions`: objects with id, completion and optionally sample and config. With an idempotency key
        used before, return the existing batch."""
        lines = b"".join(json.dumps(dict(completion)).encode() + b"\n" for completion in completions)
        query = {"dataset": dataset, "config": json.dumps(dict(config)) if config else None}
        headers = {
            **idempotency_header(),
            **({"Idempotency-Key": idempotency_key} if idempotency_key else {}),
            "Content-Type": "application/x-ndjson",
        }
        request = Request("POST", BATCHES, query, content=lines, headers=headers, timeout_s=_SEND_S)
        return await self._transport.call(request, _STATUS)

    async def get_batch(self, batch_id: str) -> BatchStatus:
        return await self._transport.call(Request("GET", _batch_path(batch_id)), _STATUS)

    async def cancel_batch(self, batch_id: str) -> BatchStatus:
        """Cancel the batch. Results so far stay."""
        return await self._transport.call(Request("POST", f"{_batch_path(batch_id)}/cancel"), _STATUS)

    async def delete_batch(self, batch_id: str) -> None:
        await self._transport.send(Request("DELETE", _batch_path(batch_id)))

    async def wait_batch(self, batch_id: str) -> BatchStatus:
        """Wait until the batch has ended, without a time limit."""
        while not (batch := await self.get_batch(batch_id)).ended:
            await asyncio.sleep(_POLL_S)
        return batch

    async def batch_summary(self, batch_id: str, pass_at: Iterable[int] = (1,)) -> BatchSummary:
        """Return the scores of the completions judged so far."""
        query = {"pass_at": ",".join(map(str, pass_at))}
        return await self._transport.call(Request("GET", f"{_batch_path(batch_id)}/summary", query), _SUMMARY)

    async def batch_results(self, batch_id: str, *, follow: bool = False) -> AsyncIterator[BatchResult]:
        """Yield results in the order of judging. `follow`: until the batch has ended, resuming after broken connections."""
        offset, retries = 0, self._new_retries(batch_id)
        while True:
            lines = LineParser()
            query = {"offset": offset, "follow": str(follow).lower()}
            request = Request("GET", f"{_batch_path(batch_id)}/results", query, timeout_s=_QUIET_S)
            broken = False
            async with self._transport.open(request) as response:
                received = response.aiter_bytes()
                while not broken:
                    try:
                        piece = await anext(received, b"")
                    except httpx.TransportError:
                        broken = True
                        continue
                    if not piece:
                        break
                    for line in lines.take(piece):
                        yield json.loads(line)
            if not broken and (not follow or (await self.get_batch(batch_id)).ended):
                return
            if lines.consumed:
                offset, retries = offset + lines.consumed, self._new_retries(batch_id)
            await asyncio.sleep(
                retries.next_delay_s(FailedAttempt(reason="the results break off again and again", retryable=True))
            )

    def _new_retries(self, batch_id: str) -> Retries:
        return Retries(self._transport.base_url + _batch_path(batch_id), _MAX_ATTEMPTS, idempotent=True)


def _batch_path(batch_id: str) -> str:
    return f"{BATCHES}/{quote_name(batch_id, 'batch')}"
