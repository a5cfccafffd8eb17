"""Map sessions, executions and files to response bodies, each in all forms of the protocol. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from sandbox_runtime.api.dialects.workspace.schemas import Json
from sandbox_runtime.errors import Conflict, PlatformFault
from sandbox_runtime.model import Blame, Ending, Execution, ExecutionKind, ExecutionState, Session
from sandbox_runtime.sessions.lifecycle.transitions import SESSION_ENDED
from sandbox_runtime.workspace import Entry, EntryKind, Slice, is_text

HIDDEN_FILES = ("stdout.log", "stderr.log")
_TIMED_OUT, _KILLED, _NOT_STARTED, _CANCELLED, _SIGNAL_BASE = 124, 137, 127, 130, 128
_EXIT_CODE_OF = {
    Ending.timed_out: _TIMED_OUT,
    Ending.cpu_exceeded: _TIMED_OUT,
    Ending.not_started: _NOT_STARTED,
    Ending.cancelled: _CANCELLED,
}
_TIMEOUT_ENDINGS = (Ending.timed_out, Ending.cpu_exceeded)
_HANDLER_NOT_LOADED = 1
_TYPES = {EntryKind.file: "file", EntryKind.folder: "directory", EntryKind.link: "link", EntryKind.other: "other"}


def envelope(plain: Json, data: Any = None, result: Any = None) -> Json:
    """Return the plain fields in all forms. `data` and `result` default to the plain fields."""
    return {
        **plain,
        "result": plain if result is None else result,
        "full_result": plain,
        "success": True,
        "data": plain if data is None else data,
        "error": None,
    }


def execution_body(execution: Execution, with_variables: bool = False) -> Json:
    """Return an execution that has ended.

    Raises Conflict if its session ended meanwhile, and PlatformFault if the platform failed: that says nothing of the program.
    """
    if execution.state is ExecutionState.crashed and execution.error == SESSION_ENDED:
        raise Conflict(f"the session {execution.session!r} ended during the execution")
    if execution.state is ExecutionState.crashed or execution.blame is Blame.platform:
        raise PlatformFault(execution.error or "the execution was lost")
    plain = _plain_fields(execution)
    if with_variables:
        plain["output_variables"] = _return_value(execution) or {}
    called = not with_variables and (execution.return_value_json is not None or execution.kind is ExecutionKind.handler)
    value = _return_value(execution) if called else None
    body = envelope(plain, data={**plain, "result": value})
    body["result"] = value if called else plain
    error = _error(execution)
    return body if error is None else {**body, "success": False, "error": error}


def _plain_fields(execution: Execution) -> Json:
    code = exit_code(execution)
    metering = execution.metering
    duration_ms = metering.duration_ms if metering else 0.0
    return {
        "stdout": execution.stdout,
        "stderr": _stderr(execution),
        "returncode": code,
        "exit_code": code,
        "execution_time": round(duration_ms / 1000, 6),
        "metrics": {
            "duration_ms": duration_ms,
            "memory_peak_mb": metering.peak_memory_mb if metering else None,
            "cpu_time_ms": metering.cpu_time_ms if metering else None,
        },
        "execution_id": execution.id,
    }


def exit_code(execution: Execution) -> int:
    """Return the exit code, or the one that a shell would report: 124 for a timeout, 128 plus the signal, 137 for a kill."""
    if execution.exit_code is not None:
        return execution.exit_code
    if execution.ending in _EXIT_CODE_OF:
        return _EXIT_CODE_OF[execution.ending]
    return _KILLED if execution.signal is None else _SIGNAL_BASE + execution.signal


def _stderr(execution: Execution) -> str:
    """Return stderr. If something other than the program ended it, the last line is the reason."""
    if execution.ending is None or execution.blame is Blame.program or not execution.error:
        return execution.stderr
    separator = "" if not execution.stderr or execution.stderr.endswith("\n") else "\n"
    return f"{execution.stderr}{separator}{execution.error}\n"


def _return_value(execution: Execution) -> Any:
    return None if execution.return_value_json is None else json.loads(execution.return_value_json)


def _error(execution: Execution) -> Json | None:
    """Return the error of the envelope, or None if the program ended by itself, with any exit code."""
    message = execution.error or (execution.ending or "the execution failed").replace("_", " ")
    if execution.ending in _TIMEOUT_ENDINGS:
        return {"code": "EXECUTION_TIMEOUT", "message": message}
    if execution.blame is Blame.limit:
        return {"code": "RESOURCE_LIMIT", "message": message}
    if execution.ending is Ending.not_started:
        return {"code": "INVALID_CODE", "message": message}
    if execution.ending is Ending.cancelled:
        return {"code": "EXECUTION_CANCELLED", "message": message}
    not_loaded = execution.kind is ExecutionKind.handler and execution.exit_code == _HANDLER_NOT_LOADED
    return {"code": "INVALID_CODE", "message": message} if not_loaded else None


def created_body(session: Session) -> Json:
    data = {"session_id": session.id, "status": "active", "created_at": session.created_ms / 1000}
    return envelope({"session_id": session.id}, data=data, result=session.id)


def status_body(session: Session, entries: Iterable[Entry]) -> Json:
    return envelope(
        {
            "id": session.id,
            "exists": True,
            "created_at": session.created_ms / 1000,
            "mount_point": session.workspace,
            "is_mounted": True,
            "files": [{**_entry(entry), "modified_at": entry.modified_s} for entry in entries],
        }
    )


def listing_body(entries: Iterable[Entry]) -> Json:
    return envelope({"files": [_entry(entry) for entry in entries]})


def _entry(entry: Entry) -> Json:
    return {"filename": entry.name, "name": entry.name, "size": entry.size_bytes, "type": _TYPES[entry.kind]}


def file_body(entry: Entry) -> Json:
    return envelope({"filename": entry.name, "size": entry.size_bytes})


def slice_body(name: str, part: Slice) -> Json:
    binary = not is_text(name)
    if binary:
        content = base64.b64encode(part.content).decode()
    else:
        content, part = part.as_text()
    return envelope(
        {
            "content": content,
            "is_binary": binary,
            "offset": part.next_offset,
            "size": part.size_bytes,
            "is_eof": part.is_end,
        }
    )


def workspaces_body(sessions: Iterable[Session]) -> Json:
    workspaces = {session.id: {"mount_point": session.workspace, "created_at": session.created_ms / 1000} for session in sessions}
    return envelope({"workspaces": workspaces})
