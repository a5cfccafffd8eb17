"""Calls of tools that nobody waits for: begun at once, looked at later by their ids, cancelled, forgotten after a while.

Each is a task that the table owns; it ends with the table. All is bounded, for each owner and in all: how many run, how many
results are kept, how large these are and how long. Who has too many that run is told so; of results the oldest go. An owner sees
their own; those of others are not there.
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

from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.api.dialects.sandboxes.responses import now
from sandbox_runtime.errors import Denied, NotFound, SandboxError, TooMany, Unavailable

MIB = 1024**2
_STOP_WITHIN_S = 60.0
_RETRY_AFTER_S = 1.0
Work = Callable[[], Awaitable[schemas.ToolResult]]


@dataclass(frozen=True, slots=True)
class Bounds:
    """kept_s: how long a result can be fetched."""

    running: int = 256
    running_of_one: int = 32
    kept_of_one: int = 200
    kept_bytes_of_one: int = 16 * MIB
    kept_bytes: int = 128 * MIB
    kept_s: float = 900.0


@dataclass(slots=True)
class ToolCall:
    id: str
    owner: str
    tool: str
    begun_s: float
    result: schemas.ToolResult | None = None
    size_bytes: int = 0
    ended_s: float = 0.0
    cancelled: bool = False
    done: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def told(self) -> schemas.ToolResult:
        if self.result is not None:
            return self.result
        took_s = round(time.monotonic() - self.begun_s, 6)
        return schemas.ToolResult(is_error=False, status="running", execution_id=self.id, duration=took_s, timestamp=now())


class Calls:
    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._calls: dict[str, ToolCall] = {}
        self._log = logging.getLogger(__name__)

    def begin(self, owner: str, tool: str, work: Work) -> ToolCall:
        self._forget_old()
        running = [one for one in self._calls.values() if one.result is None]
        mine = sum(one.owner == owner for one in running)
        if len(running) >= self._bounds.running or mine >= self._bounds.running_of_one:
            raise TooMany(f"{mine} calls of yours run already: wait for one, or cancel one", _RETRY_AFTER_S)
        call = ToolCall(f"call-{secrets.token_hex(16)}", owner, tool, time.monotonic())
        self._calls[call.id] = call
        call.task = asyncio.create_task(self._perform(call, work))
        return call

    def find(self, call_id: str, tool: str, owner: str) -> ToolCall:
        """owner "" sees everything."""
        self._forget_old()
        found = self._calls.get(call_id)
        if found is None or found.tool != tool or owner not in ("", found.owner):
            raise NotFound(f"{tool[:100]} has no execution {call_id[:100]!r}: results are kept {self._bounds.kept_s:g} s")
        return found

    async def cancel(self, call: ToolCall) -> schemas.ToolResult:
        """One that had ended is forgotten instead."""
        if call.result is not None:
            self._calls.pop(call.id, None)
            return call.result
        await self._stop(call)
        return call.told()

    async def close(self) -> None:
        await asyncio.gather(*(self._stop(one) for one in list(self._calls.values())))
        self._calls.clear()

    async def _stop(self, call: ToolCall) -> None:
        if call.result is None and call.task is not None and not call.cancelled:
            call.cancelled = True
            await asyncio.sleep(0)  # a task that is cancelled before its first step never takes it, and so would not end anything
            call.task.cancel()
        await ended_within(call, _STOP_WITHIN_S)

    async def _perform(self, call: ToolCall, work: Work) -> None:
        try:
            result = await work()
        except asyncio.CancelledError:
            result = _failed("it was cancelled", "CANCELLED", "cancelled")
        except SandboxError as error:
            result = _failed(str(error), "PERMISSION_DENIED" if isinstance(error, Denied) else "PLATFORM_FAULT", "failed")
        except Exception as error:
            self._log.exception("a tool failed in an unforeseen way: %s", call.tool)
            result = _failed(f"the tool failed in an unforeseen way: {type(error).__name__}", "PLATFORM_FAULT", "failed")
        self._end(call, result)

    def _end(self, call: ToolCall, result: schemas.ToolResult) -> None:
        took_s = round(time.monotonic() - call.begun_s, 6)
        call.result = result.model_copy(update={"execution_id": call.id, "duration": took_s})
        call.size_bytes = len(call.result.model_dump_json())
        call.ended_s = time.monotonic()
        call.done.set()
        self._make_room(call.owner)

    def _make_room(self, owner: str) -> None:
        """The oldest of an owner who has many go first, so that nobody's flood drives out what others wait for."""
        bounds = self._bounds
        self._drop([one for one in self._ended() if one.owner == owner], bounds.kept_of_one, bounds.kept_bytes_of_one)
        self._drop(self._ended(), len(self._calls), bounds.kept_bytes)

    def _ended(self) -> list[ToolCall]:
        return sorted((one for one in self._calls.values() if one.result is not None), key=lambda one: one.ended_s)

    def _drop(self, oldest_first: list[ToolCall], most: int, most_bytes: int) -> None:
        left, left_bytes = len(oldest_first), sum(one.size_bytes for one in oldest_first)
        for one in oldest_first:
            if left <= most and left_bytes <= most_bytes:
                return
            self._calls.pop(one.id, None)
            left, left_bytes = left - 1, left_bytes - one.size_bytes

    def _forget_old(self) -> None:
        until_s = time.monotonic() - self._bounds.kept_s
        for one in self._ended():
            if one.ended_s > until_s:
                return
            self._calls.pop(one.id, None)


def _failed(message: str, code: str, status: schemas.CallStatus) -> schemas.ToolResult:
    metadata = {"error_code": code, "error_message": message}
    return schemas.ToolResult(result=message, is_error=True, status=status, duration=0.0, timestamp=now(), metadata=metadata)


async def ended_within(call: ToolCall, time_s: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(time_s):
            await call.done.wait()


@asynccontextmanager
async def open_calls(app: FastAPI, bounds: Bounds | None = None) -> AsyncIterator[Calls]:
    """The table of an application, for the time of the block."""
    calls = app.state.tool_calls = Calls(bounds)
    try:
        yield calls
    finally:
        app.state.tool_calls = None
        await calls.close()


def calls_of(request: Request) -> Calls:
    found: Calls | None = getattr(request.app.state, "tool_calls", None)
    if found is None:
        raise Unavailable("this server keeps no calls: leave async out")
    return found
