"""The output of an execution while it runs, and after; taken up again where a connection broke, without losing a byte."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import httpx

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.sdk.blocking.executions import ExecutionCalls
from sandbox_runtime.sdk.blocking.sessions import API
from sandbox_runtime.sdk.events import STREAMS, EventBytes, Reading, SyncOutputs
from sandbox_runtime.sdk.exchange import Reply
from sandbox_runtime.sdk.requests import Attempts, Request, named
from sandbox_runtime.sdk.session_models import ExecutionResult

_QUIET_S = 90.0
"""A server that has nothing to tell says so more often than that."""
_POLL_S = 0.5
_TRIES = 5


class StreamCalls(ExecutionCalls):
    def follow(self, execution_id: str, *, stdout_from: int = 0, stderr_from: int = 0) -> SyncOutputs:
        """What it prints, from those bytes on, until it has ended. get_execution then tells the rest."""
        reading = Reading(dict(zip(STREAMS, (stdout_from, stderr_from), strict=True)))
        attempts = self._patience(execution_id)
        while True:
            begun = dict(reading.offsets)
            with contextlib.closing(self._connected(execution_id, reading)) as outputs:
                yield from outputs
            if reading.ended:
                return
            # A connection that brought something was worth having: patience begins anew.
            if reading.offsets != begun:
                attempts = self._patience(execution_id)
            time.sleep(attempts.pause_after(Reply(failure="the stream breaks off again and again", again=True)))

    def wait_execution(self, execution_id: str, wait_s: float = 3600.0) -> ExecutionResult:
        """Its end. Raises Unavailable where it takes longer than that; it goes on then."""
        deadline = time.monotonic() + wait_s
        while not (found := self.get_execution(execution_id)).ended:
            if time.monotonic() > deadline:
                raise Unavailable(f"the execution {execution_id} was {found.status} after {wait_s:g} s")
            time.sleep(min(_POLL_S, max(0.0, deadline - time.monotonic())))
        return found

    def _patience(self, execution_id: str) -> Attempts:
        return Attempts(self._transport.base_url + _stream_at(execution_id), _TRIES, repeatable=True)

    def _connected(self, execution_id: str, reading: Reading) -> SyncOutputs:
        """Until the server ends it, or the connection breaks."""
        query = {f"{name}_offset": offset for name, offset in reading.offsets.items()}
        headers = {"Accept": "text/event-stream"}
        request = Request("GET", _stream_at(execution_id), query, headers=headers, timeout_s=_QUIET_S)
        events = EventBytes()
        with self._transport.open(request) as response:
            received = response.iter_bytes()
            while piece := self._next(received):
                yield from filter(None, map(reading.take, events.take(piece)))

    def _next(self, received: Iterator[bytes]) -> bytes:
        """b"" where there is no more, whoever ended it."""
        try:
            return next(received, b"")
        except httpx.TransportError:
            return b""


def _stream_at(execution_id: str) -> str:
    return f"{API}/executions/{named(execution_id, 'execution')}/stream"
