"""The generated error reference: every error class with its HTTP statuses, error codes and exit codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from sandbox_runtime.api import errors as http_errors
from sandbox_runtime.api.dialects.control_plane import responses as control_plane
from sandbox_runtime.api.dialects.fusion import responses as fusion
from sandbox_runtime.api.dialects.sandboxes import responses as sandboxes
from sandbox_runtime.api.dialects.workspace import responses as workspace
from sandbox_runtime.cli import handler_run
from sandbox_runtime.cli.exit_codes import COMPILE_FAILED, ENDING_EXIT_CODES, ERROR_EXIT_CODES, STATE_EXIT_CODES
from sandbox_runtime.engine.handlers.rules import OUT_OF_MEMORY_EXIT_CODE
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
from sandbox_runtime.mcp import server as mcp_server
from sandbox_runtime.mcp.tools import error_codes as mcp

Value = TypeVar("Value")
ErrorClass = type[SandboxError]

ADVICE: Mapping[ErrorClass, tuple[str, str]] = MappingProxyType(
    {
        InvalidRequest: (
            "The request is malformed or a value is out of bounds.",
            "Correct the request as the message says.",
        ),
        NotFound: ("The named object does not exist, or belongs to another owner.", "Check the id, or create the object first."),
        Conflict: ("The request does not fit the current state of the object.", "Read the state first, then retry if it fits."),
        Denied: ("The key has no permission for this.", "Use a key with the required scope."),
        TooMany: ("The server is overloaded or a concurrency limit is reached.", "Retry after `Retry-After` seconds."),
        StorageFull: ("The node has no memory or disk space left.", "Delete sessions, files or batches, or retry later."),
        QuotaExceeded: ("The owner has reached its quota.", "Delete sessions or files of this owner, or raise the quota."),
        RequestError: ("Any other error of the request.", "Correct the request."),
        Unavailable: (
            "This deployment lacks a toolchain, kernel feature or service.",
            "Install or enable it; see the message.",
        ),
        PlatformFault: (
            "The platform failed; never counted against the program.",
            "Retry; if it persists, read the server log.",
        ),
        SandboxError: ("Base class of all errors.", "Read the message."),
    }
)
"""Meaning of each error class, and what to do."""

_MCP_TOOL_CODES = MappingProxyType(
    {
        mcp.INVALID_LIMITS: "`cpu_limit`, `memory_limit` or `disk_limit` is not a valid quantity.",
        mcp.IMAGE_NOT_FOUND: "The image name is unknown. Omit it.",
        mcp.FILE_NOT_FOUND: "The file or folder does not exist.",
        mcp.PACKAGE_INSTALL_FAILED: "Packages could not be installed; the message contains the client's output.",
        mcp.COMPILATION_ERROR: "The program did not compile; see `stderr`.",
        mcp.EXECUTION_FAILED: "The program exited with a code other than 0, or could not be started.",
        mcp.EXECUTION_TIMEOUT: "The program exceeded `timeout`.",
        mcp.TIMEOUT: "The command of `exec_command` exceeded `timeout`.",
        mcp.RESOURCE_LIMIT_EXCEEDED: "The program exceeded its memory, output, disk or process limit.",
    }
)
_MCP_PROTOCOL_CODES = MappingProxyType(
    {
        mcp_server.TOOL_NOT_FOUND: "Unknown tool.",
        mcp_server.PERMISSION: "The caller has no permission for this tool.",
        mcp_server.RESOURCE_NOT_FOUND: "Unknown resource, or its sandbox does not exist.",
        -32700: "The message is not valid JSON.",
        -32600: "The message is not valid JSON-RPC 2.0, is too large, or was sent before `initialize`.",
        -32602: "Invalid parameters, such as an unknown prompt or argument.",
        -32603: "Internal error, or too many requests (HTTP 429).",
    }
)
_HANDLER_CODES = MappingProxyType(
    {
        handler_run.GENERAL: "the handler failed, or another error",
        handler_run.UNREADABLE: "a file cannot be read",
        handler_run.NOT_LOADED: "syntax error, or no handler",
        handler_run.TIMED_OUT: "timeout",
        handler_run.NO_BOX: "no sandbox available",
        handler_run.INTERRUPTED: "interrupted",
        OUT_OF_MEMORY_EXIT_CODE: "out of memory",
    }
)

_HEAD = """# Errors

This page is generated from the code by `sandbox docs --write`.

A failed program is not an error: its result says how it ended. An error has one of the classes below (`sandbox_runtime.errors`,
also raised by the [Python client](../guides/sdk.md)). Every interface maps the class to its own code.
"""
_HTTP = f"""
## HTTP status
Routes: [HTTP reference](http/general.md). Unexpected exceptions are 500. Responses to overload have `Retry-After`.

- Control plane: the body has `error_code`, `description`, `error_detail` and `solution`.
- Sandboxes: the body has `error.code`, which is the status, and `error.message`.
- Workspaces: the body has a code, see [below](#workspace-error-codes).
- Judge routes of `/submit` and `/get_…`: as listed.
- `/run_code` and the other run routes: an invalid request is {http_errors.STATUS_CODES[InvalidRequest]}, overload is
  {fusion.OVERLOADED}; any other error is 200 with `"status": "SandboxError"`.
- All others: the body has `detail`.
"""


def errors_page() -> str:
    return _HEAD + _classes() + _statuses() + _control_plane_codes() + _workspace_codes() + _mcp_codes() + _exit_codes()


def _classes() -> str:
    rows = ([f"`{kind.__name__}`", f"`{kind.__base__.__name__}`", *advice] for kind, advice in ADVICE.items() if kind.__base__)
    return "\n## Classes\n" + _table(("class", "base class", "meaning", "what to do"), rows)


def _statuses() -> str:
    tables = (
        http_errors.STATUS_CODES,
        control_plane.STATUS_CODES,
        sandboxes.STATUS_CODES,
        {kind: status for kind, (status, _) in workspace.SESSION_ERRORS.items()},
        fusion.JUDGE_STATUS_CODES,
    )
    rows = ([f"`{kind.__name__}`", *(str(_lookup(table, kind)) for table in tables)] for kind in ADVICE)
    return _HTTP + _table(("class", "general", "control plane", "sandboxes", "workspaces", "judge"), rows)


def _control_plane_codes() -> str:
    rows = ([str(status), f"`{code}`"] for status, code in control_plane.ERROR_CODES.items())
    note = "404 of an execution is `Sandbox.ExecutionNotFound`.\n"
    return "\n## Control plane error codes\n" + note + _table(("status", "`error_code`"), rows)


def _workspace_codes() -> str:
    tables = (workspace.SESSION_ERRORS, workspace.CODE_ERRORS, workspace.FILE_ERRORS, workspace.HANDLER_ERRORS)
    rows = ([f"`{kind.__name__}`", *(_status_and_code(_lookup(table, kind)) for table in tables)] for kind in ADVICE)
    return "\n## Workspace error codes\n" + _table(("class", "sessions", "code", "files", "handlers"), rows)


def _mcp_codes() -> str:
    classes = ([f"`{kind.__name__}`", f"`{_lookup(mcp.ERROR_CODES, kind)}`"] for kind in ADVICE)
    tools = ([f"`{code}`", text] for code, text in _MCP_TOOL_CODES.items())
    protocol = ([f"`{code}`", text] for code, text in _MCP_PROTOCOL_CODES.items())
    return (
        "\n## MCP error codes\nA failed tool returns a result with `isError` and `_meta.metadata.error_code`.\n"
        + _table(("class", "`error_code`"), classes)
        + _table(("`error_code` of tools", "meaning"), tools)
        + "\nProtocol errors are JSON-RPC errors:\n"
        + _table(("code", "meaning"), protocol)
    )


def _exit_codes() -> str:
    classes = ([f"`{kind.__name__}`", str(code)] for kind, code in ERROR_EXIT_CODES.items())
    endings = [("compilation failed", str(COMPILE_FAILED)), ("killed by signal n", "128 + n")]
    endings += [(ending.replace("_", " "), str(code)) for ending, code in ENDING_EXIT_CODES.items()]
    states = ([state, str(code)] for state, code in STATE_EXIT_CODES.items())
    handlers = ([str(code), text] for code, text in _HANDLER_CODES.items())
    return (
        "\n## Exit codes\nErrors of all `sandbox` commands:\n"
        + _table(("class", "exit code"), classes)
        + "\n`sandbox run` exits with the program's exit code, or, if the program was stopped:\n"
        + _table(("ending", "exit code"), endings)
        + "\n`sandbox exec`, `sandbox logs --follow` and `sandbox shell` exit with the program's exit code, or, by state:\n"
        + _table(("state", "exit code"), states)
        + "\n`sandbox-run`:\n"
        + _table(("exit code", "meaning"), handlers)
        + "\nOther commands describe their exit codes in the [command-line reference](cli.md).\n"
    )


def _lookup(table: Mapping[ErrorClass, Value], kind: ErrorClass) -> Value:
    return next(table[base] for base in kind.__mro__ if base in table)


def _status_and_code(entry: tuple[int, str]) -> str:
    return f"{entry[0]} `{entry[1]}`"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
