"""Rules of handlers: accepted code and events, timeouts and exit codes. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from sandbox_runtime.engine.handlers.result import HandlerResult
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Ending, Outcome
from sandbox_runtime.quantities import MIB, parse_number

MAX_CODE_CHARACTERS = 102_400
TIMEOUT_KEY = "__timeout"
DEFAULT_TIMEOUT_S = 300.0
MAX_TIMEOUT_S = 3600.0
OUT_OF_MEMORY_EXIT_CODE = 137


class HandlerExitCode(IntEnum):
    success = 0
    not_loaded = 1
    """The code does not compile or defines no handler."""
    raised = 2
    not_serializable = 3
    no_sandbox = 4
    timed_out = 5
    system_error = 6
    empty = 7


_EXIT_CODES = {
    "ok": HandlerExitCode.success,
    "not_loaded": HandlerExitCode.not_loaded,
    "raised": HandlerExitCode.raised,
    "not_serializable": HandlerExitCode.not_serializable,
}


def check_code(code: str) -> None:
    """Check what needs no parsing. Syntax errors show in the box. Raises InvalidRequest."""
    if not code.strip():
        raise InvalidRequest("the code of a handler must not be empty: define `handler(event)` or `handler(event, context)`")
    if len(code) > MAX_CODE_CHARACTERS:
        raise InvalidRequest(f"the code of a handler has {len(code)} characters; at most {MAX_CODE_CHARACTERS} are allowed")


def check_event(event: object) -> Mapping[str, Any]:
    if not isinstance(event, Mapping):
        raise InvalidRequest(f"the event of a handler must be an object, not {type(event).__name__}")
    return event


def timeout_s(event: Mapping[str, Any]) -> float:
    """Return the timeout that the event requests. The key `timeout` belongs to the handler itself."""
    timeout = event.get(TIMEOUT_KEY, DEFAULT_TIMEOUT_S)
    if isinstance(timeout, str):
        raise InvalidRequest(f"{TIMEOUT_KEY} must be a number of seconds, not a string")
    seconds = parse_number(timeout, TIMEOUT_KEY)
    return DEFAULT_TIMEOUT_S if seconds <= 0 else min(float(seconds), MAX_TIMEOUT_S)


def exit_code(outcome: Outcome, result: HandlerResult | None) -> int:
    """Return the exit code of a handler. If a limit stopped it after it sent its result, the limit counts."""
    if outcome.ending is Ending.timed_out:
        return HandlerExitCode.timed_out
    if outcome.ending is Ending.out_of_memory:
        return OUT_OF_MEMORY_EXIT_CODE
    if outcome.ending is Ending.exited and result is not None:
        return _EXIT_CODES[result.status]
    return HandlerExitCode.raised if outcome.ending is Ending.exited else HandlerExitCode.system_error


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """The context that a handler receives."""

    request_id: str
    log_stream_name: str
    function_name: str = "unknown-function"
    function_version: str = "$LATEST"
    log_group_name: str = "/lambda-sandbox/logs"
    invoked_function_arn: str = ""
    extra: tuple[tuple[str, Any], ...] = ()
    """Further fields of the caller, which replace those above."""

    def fields(self, limits: Limits) -> dict[str, Any]:
        own = {
            "function_name": self.function_name,
            "function_version": self.function_version,
            "request_id": self.request_id,
            "aws_request_id": self.request_id,
            "log_group_name": self.log_group_name,
            "log_stream_name": self.log_stream_name,
            "invoked_function_arn": self.invoked_function_arn or f"arn:sandbox:function:{self.function_name}",
            "remaining_time_in_millis": int(limits.wall_s * 1000),
            "memory_limit_in_mb": (limits.memory_bytes or 0) // MIB,
        }
        return {**own, **dict(self.extra)}
