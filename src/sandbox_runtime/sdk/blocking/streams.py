"""The output of an execution, during and after its run. A broken connection is resumed without losing a byte."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import httpx

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.sdk.blocking.executions import ExecutionCalls
from sandbox_runtime.sdk.blocking.sessions import API
from sandbox_runtime.sdk.events import STREAMS, EventParser, StreamPosition, SyncOutputs
from sandbox_runtime.sdk.requests import Request, quote_name
from sandbox_runtime.sdk.retry import FailedAttempt, Retries
from sandbox_runtime.sdk.session_models import ExecutionResult

_QUIET_S = 90.0
"""The server sends keep-alives more often than that."""
_POLL_S = 0.5
_MAX_ATTEMPTS = 5


class StreamCalls(ExecutionCalls):
    def follow(self, execution_id: str, *, stdout_from: int = 0, stderr_from: int = 0) -> SyncOutputs:
        """Yield the output from the given offsets until the execution has ended. get_execution then returns the result."""
        position = StreamPosition(dict(zip(STREAMS, (stdout_from, stderr_from), strict=True)))
        retries = self._new_retries(execution_id)
        while True:
            begun = dict(position.offsets)
            with contextlib.closing(self._read_connection(execution_id, position)) as outputs:
                yield from outputs
            if position.ended:
                return
            # A connection that brought output counts as a success: start counting attempts again.
            if position.offsets != begun:
                retries = self._new_retries(execution_id)
            time.sleep(retries.next_delay_s(FailedAttempt(reason="the stream breaks off again and again", retryable=True)))

    def wait_execution(self, execution_id: str, wait_s: float = 3600.0) -> ExecutionResult:
        """Wait until the execution has ended. Raises Unavailable after `wait_s`; the execution continues."""
        deadline = time.monotonic() + wait_s
        while not (execution := self.get_execution(execution_id)).ended:
            if time.monotonic() > deadline:
                raise Unavailable(f"the execution {execution_id} was {execution.status} after {wait_s:g} s")
            time.sleep(min(_POLL_S, max(0.0, deadline - time.monotonic())))
        return execution

    def _new_retries(self, execution_id: str) -> Retries:
        return Retries(self._transport.base_url + _stream_path(execution_id), _MAX_ATTEMPTS, idempotent=True)

    def _read_connection(self, execution_id: str, position: StreamPosition) -> SyncOutputs:
        """Yield output until the server closes the stream or the connection breaks."""
        query = {f"{name}_offset": offset for name, offset in position.offsets.items()}
        headers = {"Accept": "text/event-stream"}
        request = Request("GET", _stream_path(execution_id), query, headers=headers, timeout_s=_QUIET_S)
        events = EventParser()
        with self._transport.open(request) as response:
            received = response.iter_bytes()
            while piece := self._next(received):
                yield from filter(None, map(position.take, events.take(piece)))

    def _next(self, received: Iterator[bytes]) -> bytes:
        """Return the next piece, or b"" when the stream has ended or broken."""
        try:
            return next(received, b"")
        except httpx.TransportError:
            return b""


def _stream_path(execution_id: str) -> str:
    return f"{API}/executions/{quote_name(execution_id, 'execution')}/stream"
