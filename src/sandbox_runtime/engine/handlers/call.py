"""One call in one open box: the order goes in over the command's socket, the answer comes back over it while the command runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.engine.contexts.connection import Connection
from sandbox_runtime.engine.handlers.programs import START_PYTHON, javascript
from sandbox_runtime.engine.handlers.result import MESSAGE_BYTES, HandlerResult, parse_result
from sandbox_runtime.engine.notebook.transcript import LARGE_BYTES
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Box, Running, Sink
from sandbox_runtime.model import Command, File, Limits, Outcome
from sandbox_runtime.workspace import stage

PYTHON, JAVASCRIPT = "python", "nodejs"
LANGUAGES = (PYTHON, JAVASCRIPT)
GRACE_S = 30.0
_PROGRAMS = {PYTHON: ("/run/handler.py", START_PYTHON), JAVASCRIPT: ("/run/handler.js", None)}
_READ_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class HandlerCall:
    """interpreter: how its language is started, and with which environment. script: the code is the program, otherwise it is
    there for its handler. call: "must", "found" (where there is one) or "no". wanted: variables to tell instead of a value.
    modules: further folders in which it finds some."""

    language: str
    interpreter: tuple[str, ...]
    code: str
    limits: Limits
    name: str = ""
    script: bool = False
    call: str = "must"
    event: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    stdin: bytes | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()

    def order(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "name": self.name or f"handler.{'py' if self.language == PYTHON else 'js'}",
            "script": self.script,
            "call": self.call,
            "event": dict(self.event),
            "context": dict(self.context),
            "wanted": list(self.variables),
            "args": list(self.args),
            "path": list(self.modules),
        }


@dataclass(frozen=True, slots=True)
class CallResult:
    outcome: Outcome
    handler_result: HandlerResult | None


async def run_call(box: Box, call: HandlerCall, sink: Sink | None = None) -> CallResult:
    """Raises PlatformFault where the box does not answer in time; a cancelled caller cancels the command."""
    path, text = _PROGRAMS[call.language]
    stage(box, [File(path, (text or javascript()).encode())])
    command = Command((*call.interpreter, path), stdin=call.stdin, env=call.env, limits=call.limits)
    running = await box.start(command, sink=sink, control=True)
    with _own_end(running) as connection:
        exchange = asyncio.create_task(_exchange(connection, call))
        try:
            outcome = await _outcome(box, running, call.limits.wall_s)
            return CallResult(outcome, await _result(exchange))
        finally:
            running.cancel()
            exchange.cancel()
            await asyncio.wait((exchange,), timeout=_READ_WITHIN_S)


@contextlib.contextmanager
def _own_end(running: Running) -> Iterator[socket.socket]:
    """The running command closes its socket when it ends, maybe before we have read the last of it."""
    assert running.control is not None
    with socket.socket(fileno=os.dup(running.control.fileno())) as own:
        own.setblocking(False)
        yield own


async def _exchange(own: socket.socket, call: HandlerCall) -> bytes | None:
    connection = Connection(own, MESSAGE_BYTES, MESSAGE_BYTES)
    with contextlib.suppress(PlatformFault):  # a program that is gone before it listened is told by its outcome
        await connection.send(call.order())
    message = await connection.receive()
    return None if message is None else message[1]


async def _outcome(box: Box, running: Running, wall_s: float) -> Outcome:
    try:
        async with box.clock.timeout(wall_s + GRACE_S):
            return await running.wait()
    except TimeoutError as error:
        raise PlatformFault("the box did not answer in time") from error


async def _result(exchange: asyncio.Task[bytes | None]) -> HandlerResult | None:
    """With the command everybody who could say more is gone, so this does not wait."""
    await asyncio.wait((exchange,), timeout=_READ_WITHIN_S)
    if not exchange.done() or exchange.cancelled():
        return None
    text = exchange.result()
    return await asyncio.to_thread(parse_result, text) if text is not None and len(text) > LARGE_BYTES else parse_result(text)
