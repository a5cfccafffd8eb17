"""Map request bodies to session and execution specs. Pure."""

from __future__ import annotations

import posixpath
import time

from sandbox_runtime.api.dialects.workspace.schemas import CommandRequest, ScriptRequest, WorkspaceSessionRequest
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import ExecutionKind, Resources
from sandbox_runtime.quantities import KIB, parse_bytes
from sandbox_runtime.sessions import ExecutionSpec, SessionSpec
from sandbox_runtime.settings import Settings

MAX_PROCESSES = 100
_EXTENSIONS = {"python": ".py", "shell": ".sh"}
_NETWORK = {None: "", True: "nat", False: "none"}
_EXEC_SCRIPT = 'exec "$0" "$@"'
"""Bash starts the file with the interpreter of its shebang line; without one it runs the file itself."""


def session_spec(session_id: str, body: WorkspaceSessionRequest, settings: Settings) -> SessionSpec:
    memory = settings.memory_limit if body.memory_limit is None else body.memory_limit
    return SessionSpec(
        id=session_id,
        resources=Resources(
            cpu_cores=body.cpu_quota or settings.cpu_quota,
            memory_bytes=parse_bytes(memory, "memory_limit", unit=KIB),
            disk_bytes=parse_bytes(body.size, "size"),
            processes=min(MAX_PROCESSES, settings.process_limit),
        ),
        timeout_s=body.timeout or min(settings.timeout_seconds, settings.timeout_ceiling),
        idle_timeout_s=settings.workspace_expiration_time,
        network=_NETWORK[body.allow_network],
    )


def script_spec(body: ScriptRequest) -> ExecutionSpec:
    """Return the spec of a Python script, which the execution saves in the workspace."""
    return ExecutionSpec(
        code=body.code,
        args=tuple(body.args or ()),
        filename=script_path(body),
        event=body.event,
        timeout_s=body.timeout,
        variables=tuple(body.output_params or ()),
        call_handler=True,
    )


def shell_spec(body: ScriptRequest, path: str) -> ExecutionSpec:
    """Return the spec of a shell script that is already saved at this path of the workspace."""
    if body.output_params:
        raise InvalidRequest("output_params is supported for Python scripts only; omit it")
    args = ("-c", _EXEC_SCRIPT, f"./{path}", *(body.args or ()))
    return ExecutionSpec(code="/bin/bash", kind=ExecutionKind.command, args=args, timeout_s=body.timeout)


def script_path(body: ScriptRequest) -> str:
    extension = _EXTENSIONS[body.script_type]
    path = relative_path(body.filename) if body.filename else f"script_{int(time.time())}"
    return path if path.endswith(extension) else f"{path}{extension}"


def command_spec(body: CommandRequest) -> ExecutionSpec:
    if body.command is not None:
        args = tuple(body.args or ())
        return ExecutionSpec(code=body.command, kind=ExecutionKind.command, args=args, timeout_s=body.timeout)
    code = body.code or ""
    if not code.strip():
        raise InvalidRequest("the code is empty: define handler(event) or handler(event, context)")
    return ExecutionSpec(code=code, kind=ExecutionKind.handler, event=body.event, timeout_s=body.timeout)


def relative_path(path: str) -> str:
    """Return a path relative to the workspace. A leading slash is ignored; ".." and NUL bytes are refused."""
    name = path.lstrip("/")
    if ".." in name.split("/") or "\0" in name:
        raise InvalidRequest(f"invalid path {path[:60]!r}: '..' and NUL bytes are not allowed")
    return posixpath.normpath(name) if name else ""


def file_path(path: str) -> str:
    """Return the relative path of a file. Raises InvalidRequest for that of a folder."""
    relative = relative_path(path)
    if relative in ("", ".") or path.endswith("/"):
        raise InvalidRequest(f"{path[:60]!r} is the path of a folder, not of a file")
    return relative
