"""Exit codes: one table for errors, keyed by class, and one for endings. A program's own exit code is passed on as it is."""

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

CODE_OF_ERROR: Mapping[type[SandboxError], int] = MappingProxyType(
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
CODE_OF_ENDING: Mapping[Ending, int] = MappingProxyType(
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
CODE_OF_STATE: Mapping[str, int] = MappingProxyType(
    {"timeout": 124, "cancelled": 130, "crashed": 70, "pending": 75, "running": 75}
)
"""Of executions in sessions; any other state tells its own code."""
COMPILE_FAILED = 119
_FAILED = 1
_SIGNAL_BASE = 128

HELP = """Exit code: that of the program, or 128 + n when signal n ended it.
When something else ended it: 119 it did not compile, 120 out of memory, 121 output limit, 122 disk limit, 123 process limit,
124 time limit, 125 denied, 127 could not be started.
When nothing ran: 64 bad request, 66 not found, 69 not available on this host, 70 fault of this platform, 75 overloaded."""


def code_of(error: SandboxError) -> int:
    return next(CODE_OF_ERROR[kind] for kind in type(error).__mro__ if kind in CODE_OF_ERROR)


def code_of_execution(state: str, exit_code: int | None) -> int:
    """What failed without a code of its own, because it could not even be started, has failed all the same."""
    if state in CODE_OF_STATE:
        return CODE_OF_STATE[state]
    if exit_code is None or exit_code < 0:
        return 0 if state == "completed" else _FAILED
    return exit_code if exit_code or state == "completed" else _FAILED


def code_of_result(result: JobResult) -> int:
    if result.run is not None:
        return _code_of_outcome(result.run)
    failed_by_itself = result.compile is not None and result.compile.blame is Blame.program
    return COMPILE_FAILED if failed_by_itself or result.compile is None else _code_of_outcome(result.compile)


def _code_of_outcome(outcome: Outcome) -> int:
    if outcome.ending is Ending.exited and outcome.exit_code is not None:
        return outcome.exit_code
    if outcome.ending is Ending.signaled and outcome.signal is not None:
        return _SIGNAL_BASE + outcome.signal
    return CODE_OF_ENDING[outcome.ending]
