"""Calls that execute code in a session."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from sandbox_runtime.sdk.blocking.sessions import API
from sandbox_runtime.sdk.blocking.transport import Transport
from sandbox_runtime.sdk.execution_bodies import execution_body, idempotency_header
from sandbox_runtime.sdk.requests import Request, quote_name
from sandbox_runtime.sdk.session_models import ExecutionPage, ExecutionResult

_RESULT = TypeAdapter(ExecutionResult)
_PAGE = TypeAdapter(ExecutionPage)
_MIN_SYNC_S, _MAX_SYNC_S = 10.0, 3600.0
_QUEUE_S = 60.0
"""How long an execution may wait in the queue before its timeout starts."""
_ANSWER_S = 10.0


class ExecutionCalls:
    _transport: Transport

    def execute_code(
        self,
        session_id: str,
        code: str,
        timeout: float = 30,
        *,
        language: str = "python",
        event: Mapping[str, Any] | None = None,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ExecutionResult:
        """Run code and wait for its end. If it defines a handler, the handler is called with the event, and its return value is
        the result."""
        body = execution_body(code, language, timeout, event, stdin, env)
        wait_s = min(_MAX_SYNC_S, max(_MIN_SYNC_S, timeout + _QUEUE_S))
        request = Request(
            "POST",
            f"{_session_path(session_id)}/execute-sync",
            {"sync_timeout": wait_s},
            body,
            headers=idempotency_header(),
            timeout_s=wait_s + _ANSWER_S,
        )
        return self._transport.call(request, _RESULT)

    def execute(
        self,
        session_id: str,
        command: str,
        *args: str,
        timeout: float = 30,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ExecutionResult:
        """Run a shell command line; with args, a program and its arguments, without a shell."""
        line = shlex.join((command, *args)) if args else command
        return self.execute_code(session_id, line, timeout, language="shell", stdin=stdin, env=env)

    def submit_code(
        self,
        session_id: str,
        code: str,
        timeout: float = 30,
        *,
        language: str = "python",
        event: Mapping[str, Any] | None = None,
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ExecutionResult:
        """Start code without waiting for it. See get_execution, wait_execution, follow."""
        body = execution_body(code, language, timeout, event, stdin, env)
        return self._transport.call(
            Request("POST", f"{_session_path(session_id)}/execute", body=body, headers=idempotency_header()), _RESULT
        )

    def get_execution(self, execution_id: str) -> ExecutionResult:
        return self._transport.call(Request("GET", f"{_execution_path(execution_id)}/result"), _RESULT)

    def list_executions(self, session_id: str, limit: int = 50, offset: int = 0) -> ExecutionPage:
        query = {"limit": limit, "offset": offset}
        return self._transport.call(Request("GET", f"{_session_path(session_id)}/executions", query), _PAGE)

    def cancel_execution(self, execution_id: str) -> ExecutionResult:
        """Cancel the execution and return its final state."""
        return self._transport.call(Request("POST", f"{_execution_path(execution_id)}/cancel", timeout_s=60.0), _RESULT)


def _session_path(session_id: str) -> str:
    return f"{API}/executions/sessions/{quote_name(session_id, 'session')}"


def _execution_path(execution_id: str) -> str:
    return f"{API}/executions/{quote_name(execution_id, 'execution')}"
