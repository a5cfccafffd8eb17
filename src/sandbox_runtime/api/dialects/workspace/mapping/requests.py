"""From messages of this protocol to what sessions understand. Pure."""

from __future__ import annotations

import posixpath
import time

from sandbox_runtime.api.dialects.workspace.schemas import CreateSession, Execute, ExecuteCode
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import ExecutionKind, Resources
from sandbox_runtime.quantities import KIB, parse_bytes
from sandbox_runtime.sessions import ExecutionSpec, SessionSpec
from sandbox_runtime.settings import Settings

MOST_PROCESSES = 100
_EXTENSIONS = {"python": ".py", "shell": ".sh"}
_NETWORK = {None: "", True: "nat", False: "none"}
_START = 'exec "$0" "$@"'
"""Bash starts the file as it says itself, and as a script of its own where it says nothing."""


def session_spec(session_id: str, asked: CreateSession, settings: Settings) -> SessionSpec:
    memory = settings.memory_limit if asked.memory_limit is None else asked.memory_limit
    return SessionSpec(
        id=session_id,
        resources=Resources(
            cpu_cores=asked.cpu_quota or settings.cpu_quota,
            memory_bytes=parse_bytes(memory, "memory_limit", unit=KIB),
            disk_bytes=parse_bytes(asked.size, "size"),
            processes=min(MOST_PROCESSES, settings.process_limit),
        ),
        timeout_s=asked.timeout or min(settings.timeout_seconds, settings.timeout_ceiling),
        idle_timeout_s=settings.workspace_expiration_time,
        network=_NETWORK[asked.allow_network],
    )


def script_spec(asked: ExecuteCode) -> ExecutionSpec:
    """Of a Python script. It is saved in the workspace."""
    return ExecutionSpec(
        code=asked.code,
        args=tuple(asked.args or ()),
        filename=script_name(asked),
        event=asked.event,
        timeout_s=asked.timeout,
        wanted=tuple(asked.output_params or ()),
        call_found=True,
    )


def shell_spec(asked: ExecuteCode, filename: str) -> ExecutionSpec:
    """Of a shell script that lies in the workspace already."""
    if asked.output_params:
        raise InvalidRequest("output_params are variables of Python: leave them out of a shell script")
    args = ("-c", _START, f"./{filename}", *(asked.args or ()))
    return ExecutionSpec(code="/bin/bash", kind=ExecutionKind.command, args=args, timeout_s=asked.timeout)


def script_name(asked: ExecuteCode) -> str:
    extension = _EXTENSIONS[asked.script_type]
    name = relative(asked.filename) if asked.filename else f"script_{int(time.time())}"
    return name if name.endswith(extension) else f"{name}{extension}"


def command_spec(asked: Execute) -> ExecutionSpec:
    if asked.command is not None:
        args = tuple(asked.args or ())
        return ExecutionSpec(code=asked.command, kind=ExecutionKind.command, args=args, timeout_s=asked.timeout)
    code = asked.code or ""
    if not code.strip():
        raise InvalidRequest("the code is empty: define handler(event) or handler(event, context)")
    return ExecutionSpec(code=code, kind=ExecutionKind.handler, event=asked.event, timeout_s=asked.timeout)


def relative(path: str) -> str:
    """A name in the workspace: a slash in front means nothing, and nothing leads out."""
    name = path.lstrip("/")
    if ".." in name.split("/") or "\0" in name:
        raise InvalidRequest(f"{path[:60]!r} is no path in the workspace: '..' and NUL bytes are refused")
    return posixpath.normpath(name) if name else ""


def file_name(path: str) -> str:
    name = relative(path)
    if name in ("", ".") or path.endswith("/"):
        raise InvalidRequest(f"{path[:60]!r} names a folder, not a file")
    return name
