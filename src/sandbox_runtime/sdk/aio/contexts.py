"""Calls for contexts: live interpreters of a session."""

from __future__ import annotations

from pydantic import TypeAdapter

from sandbox_runtime.sdk.aio.sessions import API
from sandbox_runtime.sdk.aio.transport import Transport
from sandbox_runtime.sdk.execution_bodies import idempotency_header, round_up_s
from sandbox_runtime.sdk.requests import Request, quote_name
from sandbox_runtime.sdk.session_models import ContextInfo, ContextList, ExecutionResult

_CONTEXT = TypeAdapter(ContextInfo)
_CONTEXTS = TypeAdapter(ContextList)
_RESULT = TypeAdapter(ExecutionResult)
_QUEUE_S = 60.0


class ContextCalls:
    _transport: Transport

    async def open_context(self, session_id: str) -> ContextInfo:
        """Open a Python interpreter that keeps its variables between executions."""
        return await self._transport.call(Request("POST", _contexts_path(session_id), body={}, idempotent=False), _CONTEXT)

    async def list_contexts(self, session_id: str) -> list[ContextInfo]:
        return (await self._transport.call(Request("GET", _contexts_path(session_id)), _CONTEXTS)).contexts

    async def execute_in_context(self, session_id: str, context_id: str, code: str, timeout: float = 30) -> ExecutionResult:
        """Run code. The result's `displays` contain the value of the last expression, tables and images."""
        request = Request(
            "POST",
            f"{_context_path(session_id, context_id)}/execute",
            body={"code": code, "timeout": round_up_s(timeout)},
            headers=idempotency_header(),
            timeout_s=timeout + _QUEUE_S,
        )
        return await self._transport.call(request, _RESULT)

    async def interrupt_context(self, session_id: str, context_id: str) -> ContextInfo:
        """Interrupt the running code with an error. The variables stay."""
        return await self._transport.call(Request("POST", f"{_context_path(session_id, context_id)}/interrupt"), _CONTEXT)

    async def restart_context(self, session_id: str, context_id: str) -> ContextInfo:
        """Restart the interpreter without its variables, with the same id."""
        return await self._transport.call(Request("POST", f"{_context_path(session_id, context_id)}/restart"), _CONTEXT)

    async def close_context(self, session_id: str, context_id: str) -> None:
        await self._transport.send(Request("DELETE", _context_path(session_id, context_id), idempotent=False))


def _contexts_path(session_id: str) -> str:
    return f"{API}/sessions/{quote_name(session_id, 'session')}/contexts"


def _context_path(session_id: str, context_id: str) -> str:
    return f"{_contexts_path(session_id)}/{quote_name(context_id, 'context')}"
