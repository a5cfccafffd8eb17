"""Functions called with an event, and scripts whose variables are wanted: code that says more than its output.

Contract: the rules (rules.py) are pure. call() runs a Call in an open box and returns what came of it: the command's outcome and
what the program told over its own socket, bounded and checked on this side, because a guest can say anything. Python and
JavaScript have handlers; the code is never read, compiled or imported by the server.
"""

from sandbox_runtime.engine.handlers.call import CallResult, HandlerCall, run_call
from sandbox_runtime.engine.handlers.programs import injected_modules
from sandbox_runtime.engine.handlers.result import HandlerResult
from sandbox_runtime.engine.handlers.rules import (
    MAX_CODE_CHARACTERS,
    HandlerContext,
    HandlerExitCode,
    check_code,
    check_event,
    exit_code,
    timeout_s,
)

__all__ = [
    "MAX_CODE_CHARACTERS",
    "CallResult",
    "HandlerCall",
    "HandlerContext",
    "HandlerExitCode",
    "HandlerResult",
    "check_code",
    "check_event",
    "exit_code",
    "injected_modules",
    "run_call",
    "timeout_s",
]
