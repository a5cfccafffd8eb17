"""Exit codes of errors, endings and execution states. A program's own exit code is passed through."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sandbox_runtime.errors import (
    Conflict,
    Denied,
    InvalidRequest,
    NotFound,
    PlatformFault,
    QuotaExceeded,
    RequestError,
    SandboxError,
    StorageFull,
    TooMany,
    Unavailable,
)
from sandbox_runtime.model import Blame, Ending, JobResult, Outcome

ERROR_EXIT_CODES: Mapping[type[SandboxError], int] = MappingProxyType(
    {
        RequestError: 64,
        InvalidRequest: 64,
        NotFound: 66,
        Unavailable: 69,
        SandboxError: 70,
        PlatformFault: 70,
        Conflict: 73,
        TooMany: 75,
        StorageFull: 75,
        QuotaExceeded: 75,
        Denied: 77,
    }
)
ENDING_EXIT_CODES: Mapping[Ending, int] = MappingProxyType(
    {
        Ending.timed_out: 124,
        Ending.cpu_exceeded: 124,
        Ending.out_of_memory: 120,
        Ending.output_limit: 121,
        Ending.disk_limit: 122,
        Ending.process_limit: 123,
        Ending.denied: 125,
        Ending.not_started: 127,
        Ending.cancelled: 130,
        Ending.lost: 70,
    }
)
STATE_EXIT_CODES: Mapping[str, int] = MappingProxyType(
    {"timeout": 124, "cancelled": 130, "crashed": 70, "pending": 75, "running": 75}
)
"""States of executions in sessions; in any other state the program's exit code counts."""
COMPILE_FAILED = 119
_FAILED = 1
_SIGNAL_BASE = 128

HELP = """Exit code: the program's own, or 128 + n if signal n killed it.
If it was stopped: 119 compilation failed, 120 out of memory, 121 output limit, 122 disk limit, 123 process limit, 124 time limit,
125 denied, 127 could not be started.
If nothing ran: 64 invalid request, 66 not found, 69 not available on this host, 70 platform error, 75 overloaded."""


def error_exit_code(error: SandboxError) -> int:
    return next(ERROR_EXIT_CODES[kind] for kind in type(error).__mro__ if kind in ERROR_EXIT_CODES)


def execution_exit_code(state: str, exit_code: int | None) -> int:
    """Return the exit code. A failure without a code, because the program could not be started, is 1."""
    if state in STATE_EXIT_CODES:
        return STATE_EXIT_CODES[state]
    if exit_code is None or exit_code < 0:
        return 0 if state == "completed" else _FAILED
    return exit_code if exit_code or state == "completed" else _FAILED


def result_exit_code(result: JobResult) -> int:
    if result.run is not None:
        return _outcome_exit_code(result.run)
    failed_by_itself = result.compile is not None and result.compile.blame is Blame.program
    return COMPILE_FAILED if failed_by_itself or result.compile is None else _outcome_exit_code(result.compile)


def _outcome_exit_code(outcome: Outcome) -> int:
    if outcome.ending is Ending.exited and outcome.exit_code is not None:
        return outcome.exit_code
    if outcome.ending is Ending.signaled and outcome.signal is not None:
        return _SIGNAL_BASE + outcome.signal
    return ENDING_EXIT_CODES[outcome.ending]
