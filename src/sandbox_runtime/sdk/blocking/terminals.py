"""Calls for a terminal in a session. Its output is that of an execution."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from sandbox_runtime.sdk.blocking.sessions import API
from sandbox_runtime.sdk.blocking.transport import Transport
from sandbox_runtime.sdk.execution_bodies import round_up_s
from sandbox_runtime.sdk.requests import Request, quote_name
from sandbox_runtime.sdk.session_models import ExecutionResult

_RESULT = TypeAdapter(ExecutionResult)


class TerminalCalls:
    _transport: Transport

    def open_terminal(
        self, session_id: str, command: str = "", *, rows: int = 24, columns: int = 80, timeout: float = 3600
    ) -> ExecutionResult:
        """Run a shell, or a shell command line, in a terminal. It is an execution: follow() yields its output."""
        body: dict[str, Any] = {"command": command, "rows": rows, "columns": columns, "timeout": round_up_s(timeout)}
        path = f"{API}/sessions/{quote_name(session_id, 'session')}/terminal"
        return self._transport.call(Request("POST", path, body=body, idempotent=False), _RESULT)

    def type_in(self, execution_id: str, keys: bytes) -> None:
        """Send keys. Not retried after a broken connection, because keys must not arrive twice."""
        self._transport.send(Request("POST", f"{_execution_path(execution_id)}/input", content=keys, idempotent=False))

    def resize_terminal(self, execution_id: str, rows: int, columns: int) -> None:
        self._transport.send(Request("POST", f"{_execution_path(execution_id)}/resize", body={"rows": rows, "columns": columns}))


def _execution_path(execution_id: str) -> str:
    return f"{API}/executions/{quote_name(execution_id, 'execution')}"
