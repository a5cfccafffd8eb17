"""The documented error codes, and their mapping from errors and run outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sandbox_runtime.errors import (
    Conflict,
    Denied,
    InvalidRequest,
    NotFound,
    PlatformFault,
    RequestError,
    SandboxError,
    TooMany,
    Unavailable,
)
from sandbox_runtime.mcp.hosts.port import RunOutcome

INVALID_PARAMETERS = "INVALID_PARAMETERS"
PACKAGE_INSTALL_FAILED = "PACKAGE_INSTALL_FAILED"
COMPILATION_ERROR = "COMPILATION_ERROR"
RESOURCE_LIMIT_EXCEEDED = "RESOURCE_LIMIT_EXCEEDED"
EXECUTION_TIMEOUT = "EXECUTION_TIMEOUT"
EXECUTION_FAILED = "EXECUTION_FAILED"
INVALID_LIMITS = "INVALID_LIMITS"
IMAGE_NOT_FOUND = "IMAGE_NOT_FOUND"
FILE_NOT_FOUND = "FILE_NOT_FOUND"
INSUFFICIENT_RESOURCES = "INSUFFICIENT_RESOURCES"
SANDBOX_NOT_FOUND = "SANDBOX_NOT_FOUND"
CONTAINER_NOT_RUNNING, TIMEOUT, PLATFORM_FAULT = "CONTAINER_NOT_RUNNING", "TIMEOUT", "PLATFORM_FAULT"

ERROR_CODES: Mapping[type[SandboxError], str] = MappingProxyType(
    {
        InvalidRequest: INVALID_PARAMETERS,
        NotFound: SANDBOX_NOT_FOUND,
        Conflict: CONTAINER_NOT_RUNNING,
        Denied: "PERMISSION_DENIED",
        TooMany: INSUFFICIENT_RESOURCES,
        RequestError: INVALID_PARAMETERS,
        Unavailable: "NOT_AVAILABLE",
        PlatformFault: PLATFORM_FAULT,
        SandboxError: PLATFORM_FAULT,
    }
)
_LIMITS = ("out_of_memory", "output_limit", "disk_limit", "process_limit")


def error_code_of(error: SandboxError) -> str:
    return next(ERROR_CODES[kind] for kind in type(error).__mro__ if kind in ERROR_CODES)


def run_error_code(outcome: RunOutcome) -> str:
    """Return the code, or "" if the run succeeded."""
    if outcome.ok:
        return ""
    if outcome.timed_out:
        return EXECUTION_TIMEOUT
    return RESOURCE_LIMIT_EXCEEDED if outcome.ending in _LIMITS else EXECUTION_FAILED


class ToolFailure(Exception):
    """A tool failure with a specific code. `dispatch` turns it into a response."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
