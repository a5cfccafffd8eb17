"""Asynchronous tool calls: started at once, polled by id, cancelled, and dropped some time after their end.

Each call is a task of the registry and ends with it. Everything is bounded, per owner and in total: running calls, kept results,
their size and their age. A call above the limit of running ones is refused; of the results the oldest are dropped. An owner can
access only their own calls; those of others do not exist for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI, Request

from sandbox_runtime.api.dialects.sandboxes.responses import now
from sandbox_runtime.api.dialects.sandboxes.schemas.tools import ToolCallStatus, ToolResult
from sandbox_runtime.errors import Denied, NotFound, SandboxError, TooMany, Unavailable

MIB = 1024**2
_STOP_TIMEOUT_S = 60.0
_RETRY_AFTER_S = 1.0
ToolRun = Callable[[], Awaitable[ToolResult]]


@dataclass(frozen=True, slots=True)
class CallLimits:
    max_running: int = 256
    max_running_per_owner: int = 32
    max_results_per_owner: int = 200
    max_result_bytes_per_owner: int = 16 * MIB
    max_result_bytes: int = 128 * MIB
    result_ttl_s: float = 900.0
    """How long a result can be fetched."""


@dataclass(slots=True)
class ToolCall:
    id: str
    owner: str
    tool: str
    started_s: float
    result: ToolResult | None = None
    size_bytes: int = 0
    ended_s: float = 0.0
    cancelled: bool = False
    done: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def to_result(self) -> ToolResult:
        """Return the result, or one with status running."""
        if self.result is not None:
            return self.result
        elapsed_s = round(time.monotonic() - self.started_s, 6)
        return ToolResult(is_error=False, status="running", execution_id=self.id, duration=elapsed_s, timestamp=now())


class ToolCallRegistry:
    def __init__(self, limits: CallLimits | None = None) -> None:
        self._limits = limits or CallLimits()
        self._calls: dict[str, ToolCall] = {}
        self._log = logging.getLogger(__name__)

    def start(self, owner: str, tool: str, run: ToolRun) -> ToolCall:
        """Start a call. Raises TooMany above the limits."""
        self._drop_expired()
        running = [call for call in self._calls.values() if call.result is None]
        of_owner = sum(call.owner == owner for call in running)
        if len(running) >= self._limits.max_running or of_owner >= self._limits.max_running_per_owner:
            raise TooMany(f"too many running tool calls ({of_owner} of yours): wait for one or cancel one", _RETRY_AFTER_S)
        call = ToolCall(f"call-{secrets.token_hex(16)}", owner, tool, time.monotonic())
        self._calls[call.id] = call
        call.task = asyncio.create_task(self._run(call, run))
        return call

    def get(self, call_id: str, tool: str, owner: str) -> ToolCall:
        """Return a call, or raise NotFound. The owner "" sees all calls."""
        self._drop_expired()
        call = self._calls.get(call_id)
        if call is None or call.tool != tool or owner not in ("", call.owner):
            ttl = f"results are kept for {self._limits.result_ttl_s:g} s"
            raise NotFound(f"the tool {tool[:100]} has no execution {call_id[:100]!r}; {ttl}")
        return call

    async def cancel(self, call: ToolCall) -> ToolResult:
        """Cancel a running call, or drop one that has ended. Return its result."""
        if call.result is not None:
            self._calls.pop(call.id, None)
            return call.result
        await self._stop(call)
        return call.to_result()

    async def close(self) -> None:
        await asyncio.gather(*(self._stop(call) for call in list(self._calls.values())))
        self._calls.clear()

    async def _stop(self, call: ToolCall) -> None:
        if call.result is None and call.task is not None and not call.cancelled:
            call.cancelled = True
            await asyncio.sleep(0)  # a task cancelled before its first step never runs, so the call would have no result
            call.task.cancel()
        await wait_until_done(call, _STOP_TIMEOUT_S)

    async def _run(self, call: ToolCall, run: ToolRun) -> None:
        try:
            result = await run()
        except asyncio.CancelledError:
            result = _failure("the call was cancelled", "CANCELLED", "cancelled")
        except SandboxError as error:
            result = _failure(str(error), "PERMISSION_DENIED" if isinstance(error, Denied) else "PLATFORM_FAULT", "failed")
        except Exception as error:
            self._log.exception("unexpected error in the tool %s", call.tool)
            result = _failure(f"unexpected error in the tool: {type(error).__name__}", "PLATFORM_FAULT", "failed")
        self._set_result(call, result)

    def _set_result(self, call: ToolCall, result: ToolResult) -> None:
        elapsed_s = round(time.monotonic() - call.started_s, 6)
        call.result = result.model_copy(update={"execution_id": call.id, "duration": elapsed_s})
        call.size_bytes = len(call.result.model_dump_json())
        call.ended_s = time.monotonic()
        call.done.set()
        self._drop_excess(call.owner)

    def _drop_excess(self, owner: str) -> None:
        """Drop the oldest results of this owner first, so that one owner's many calls do not evict the results of others."""
        limits = self._limits
        of_owner = [call for call in self._ended() if call.owner == owner]
        self._drop_oldest(of_owner, limits.max_results_per_owner, limits.max_result_bytes_per_owner)
        self._drop_oldest(self._ended(), len(self._calls), limits.max_result_bytes)

    def _ended(self) -> list[ToolCall]:
        """Return the calls that have ended, oldest first."""
        return sorted((call for call in self._calls.values() if call.result is not None), key=lambda call: call.ended_s)

    def _drop_oldest(self, oldest_first: list[ToolCall], max_count: int, max_bytes: int) -> None:
        count, size = len(oldest_first), sum(call.size_bytes for call in oldest_first)
        for call in oldest_first:
            if count <= max_count and size <= max_bytes:
                return
            self._calls.pop(call.id, None)
            count, size = count - 1, size - call.size_bytes

    def _drop_expired(self) -> None:
        expired_before_s = time.monotonic() - self._limits.result_ttl_s
        for call in self._ended():
            if call.ended_s > expired_before_s:
                return
            self._calls.pop(call.id, None)


def _failure(message: str, code: str, status: ToolCallStatus) -> ToolResult:
    metadata = {"error_code": code, "error_message": message}
    return ToolResult(result=message, is_error=True, status=status, duration=0.0, timestamp=now(), metadata=metadata)


async def wait_until_done(call: ToolCall, timeout_s: float) -> None:
    """Return when the call has ended, or after the timeout."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await call.done.wait()


@asynccontextmanager
async def open_tool_calls(app: FastAPI, limits: CallLimits | None = None) -> AsyncIterator[ToolCallRegistry]:
    """Give the application a registry of tool calls. At the end of the block all calls are stopped."""
    calls = app.state.tool_calls = ToolCallRegistry(limits)
    try:
        yield calls
    finally:
        app.state.tool_calls = None
        await calls.close()


def tool_calls_of(request: Request) -> ToolCallRegistry:
    """Return the registry of the application. Raises Unavailable if it has none."""
    calls: ToolCallRegistry | None = getattr(request.app.state, "tool_calls", None)
    if calls is None:
        raise Unavailable("this server does not support async tool calls; omit options.async")
    return calls
