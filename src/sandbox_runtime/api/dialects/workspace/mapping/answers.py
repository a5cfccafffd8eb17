"""From what sessions say to answers of this protocol, in all its forms at once. Pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from sandbox_runtime.api.dialects.workspace.schemas import Json
from sandbox_runtime.errors import Conflict, PlatformFault
from sandbox_runtime.model import Blame, Ending, Execution, ExecutionKind, ExecutionState, Session
from sandbox_runtime.sessions.lifecycle.lifecycle import SESSION_ENDED
from sandbox_runtime.workspace import Entry, Kind, Slice, is_text

HIDDEN = ("stdout.log", "stderr.log")
_TIMED_OUT, _KILLED, _NOT_STARTED, _CANCELLED, _SIGNAL_BASE = 124, 137, 127, 130, 128
_CODE_OF = {
    Ending.timed_out: _TIMED_OUT,
    Ending.cpu_exceeded: _TIMED_OUT,
    Ending.not_started: _NOT_STARTED,
    Ending.cancelled: _CANCELLED,
}
_TIME_IS_UP = (Ending.timed_out, Ending.cpu_exceeded)
_NOT_LOADED = 1
_TYPES = {Kind.file: "file", Kind.folder: "directory", Kind.link: "link", Kind.other: "other"}


def enveloped(plain: Json, data: Any = None, result: Any = None) -> Json:
    """data and result: where they are not the plain fields."""
    return {
        **plain,
        "result": plain if result is None else result,
        "full_result": plain,
        "success": True,
        "data": plain if data is None else data,
        "error": None,
    }


def executed(execution: Execution, wanted: bool = False) -> Json:
    """Raises PlatformFault where this platform failed, which says nothing of the program; Conflict where its session ended."""
    if execution.state is ExecutionState.crashed and execution.error == SESSION_ENDED:
        raise Conflict(f"the session {execution.session!r} ended while this ran")
    if execution.state is ExecutionState.crashed or execution.blame is Blame.platform:
        raise PlatformFault(execution.error or "the execution was lost")
    plain = _plain(execution)
    if wanted:
        plain["output_variables"] = _value(execution) or {}
    called = not wanted and (execution.return_value_json is not None or execution.kind is ExecutionKind.handler)
    value = _value(execution) if called else None
    answer = enveloped(plain, data={**plain, "result": value})
    answer["result"] = value if called else plain
    fault = _fault(execution)
    return answer if fault is None else {**answer, "success": False, "error": fault}


def _plain(execution: Execution) -> Json:
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
    """As a shell counts where there is none of its own; 137 is what ends in SIGKILL, out of memory as well."""
    if execution.exit_code is not None:
        return execution.exit_code
    if execution.ending in _CODE_OF:
        return _CODE_OF[execution.ending]
    return _KILLED if execution.signal is None else _SIGNAL_BASE + execution.signal


def _stderr(execution: Execution) -> str:
    """What stopped it stands at the end where it was not the program itself."""
    if execution.ending is None or execution.blame is Blame.program or not execution.error:
        return execution.stderr
    between = "" if not execution.stderr or execution.stderr.endswith("\n") else "\n"
    return f"{execution.stderr}{between}{execution.error}\n"


def _value(execution: Execution) -> Any:
    return None if execution.return_value_json is None else json.loads(execution.return_value_json)


def _fault(execution: Execution) -> Json | None:
    """None where the program came to its own end, whatever it said of it."""
    message = execution.error or (execution.ending or "it failed").replace("_", " ")
    if execution.ending in _TIME_IS_UP:
        return {"code": "EXECUTION_TIMEOUT", "message": message}
    if execution.blame is Blame.limit:
        return {"code": "RESOURCE_LIMIT", "message": message}
    if execution.ending is Ending.not_started:
        return {"code": "INVALID_CODE", "message": message}
    if execution.ending is Ending.cancelled:
        return {"code": "EXECUTION_CANCELLED", "message": message}
    unloadable = execution.kind is ExecutionKind.handler and execution.exit_code == _NOT_LOADED
    return {"code": "INVALID_CODE", "message": message} if unloadable else None


def created(session: Session) -> Json:
    data = {"session_id": session.id, "status": "active", "created_at": session.created_ms / 1000}
    return enveloped({"session_id": session.id}, data=data, result=session.id)


def status(session: Session, entries: Iterable[Entry]) -> Json:
    return enveloped(
        {
            "id": session.id,
            "exists": True,
            "created_at": session.created_ms / 1000,
            "mount_point": session.workspace,
            "is_mounted": True,
            "files": [{**listed(entry), "modified_at": entry.modified_s} for entry in entries],
        }
    )


def listed(entry: Entry) -> Json:
    return {"filename": entry.name, "name": entry.name, "size": entry.size_bytes, "type": _TYPES[entry.kind]}


def listing(entries: Iterable[Entry]) -> Json:
    return enveloped({"files": [listed(entry) for entry in entries]})


def written(entry: Entry) -> Json:
    return enveloped({"filename": entry.name, "size": entry.size_bytes})


def read(name: str, found: Slice) -> Json:
    binary = not is_text(name)
    if binary:
        content = base64.b64encode(found.content).decode()
    else:
        content, found = found.as_text()
    return enveloped(
        {
            "content": content,
            "is_binary": binary,
            "offset": found.next_offset,
            "size": found.size_bytes,
            "is_eof": found.is_end,
        }
    )


def workspaces(sessions: Iterable[Session]) -> Json:
    return enveloped(
        {"workspaces": {one.id: {"mount_point": one.workspace, "created_at": one.created_ms / 1000} for one in sessions}}
    )
