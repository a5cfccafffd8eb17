"""Handlers (functions called with an event) and scripts whose variables are returned.

Contract: rules.py is pure. run_call() runs a HandlerCall in an open box and returns the command's outcome and what the program
sent over its control socket. The server bounds and checks that message, because a guest can send anything. Handlers are written
in Python or JavaScript. The server never parses, compiles or imports the code.
"""

from sandbox_runtime.engine.handlers.call import CallResult, HandlerCall, run_call
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
from sandbox_runtime.engine.injected_modules import handler_modules as injected_modules

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
