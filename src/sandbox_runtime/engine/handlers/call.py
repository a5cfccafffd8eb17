"""One call in one open box: the order is sent over the command's control socket and the answer read from it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.engine.contexts.connection import Connection
from sandbox_runtime.engine.handlers.result import MESSAGE_BYTES, HandlerResult, parse_result
from sandbox_runtime.engine.injected_modules import HANDLER_START, javascript_handler
from sandbox_runtime.engine.notebook.transcript import LARGE_BYTES
from sandbox_runtime.engine.run.command import control_socket, wait_command
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Box, Sink
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.job import File
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Outcome
from sandbox_runtime.workspace.staging import stage

PYTHON, JAVASCRIPT = "python", "nodejs"
LANGUAGES = (PYTHON, JAVASCRIPT)
_PROGRAMS = {PYTHON: ("/run/handler.py", HANDLER_START), JAVASCRIPT: ("/run/handler.js", None)}
_READ_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class HandlerCall:
    """A handler call, or a script whose variables are returned."""

    language: str
    interpreter: tuple[str, ...]
    """Command that starts the interpreter."""
    code: str
    limits: Limits
    name: str = ""
    """File name of the code in tracebacks."""
    script: bool = False
    """Whether the code is the program itself; otherwise it only defines the handler."""
    call: str = "must"
    """Whether to call the handler: "must", "found" (if there is one) or "no"."""
    event: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    variables: tuple[str, ...] = ()
    """Variables to return instead of a value."""
    args: tuple[str, ...] = ()
    stdin: bytes | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[str, ...] = ()
    """Further folders of modules."""

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
    """Run a call. Raises PlatformFault if the box does not answer in time. Cancelling cancels the command."""
    path, text = _PROGRAMS[call.language]
    stage(box, [File(path, (text or javascript_handler()).encode())])
    command = Command((*call.interpreter, path), stdin=call.stdin, env=call.env, limits=call.limits)
    running = await box.start(command, sink=sink, control=True)
    with control_socket(running) as own:
        exchange = asyncio.create_task(_exchange(own, call))
        try:
            outcome = await wait_command(box, running, call.limits.wall_s)
            return CallResult(outcome, await _result(exchange))
        finally:
            running.cancel()
            exchange.cancel()
            await asyncio.wait((exchange,), timeout=_READ_WITHIN_S)


async def _exchange(own: socket.socket, call: HandlerCall) -> bytes | None:
    connection = Connection(own, MESSAGE_BYTES, MESSAGE_BYTES)
    with contextlib.suppress(PlatformFault):  # if the program is gone before it reads, its outcome says so
        await connection.send(call.order())
    message = await connection.receive()
    return None if message is None else message[1]


async def _result(exchange: asyncio.Task[bytes | None]) -> HandlerResult | None:
    """Return the result. The command has ended, so nothing more can arrive and this does not wait."""
    await asyncio.wait((exchange,), timeout=_READ_WITHIN_S)
    if not exchange.done() or exchange.cancelled():
        return None
    text = exchange.result()
    return await asyncio.to_thread(parse_result, text) if text is not None and len(text) > LARGE_BYTES else parse_result(text)
