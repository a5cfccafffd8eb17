"""Executions that ended a moment ago and whose complete output can still be followed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sandbox_runtime.model.limits import MIB

if TYPE_CHECKING:
    from sandbox_runtime.sessions.registry import LiveExecution

MAX_EXECUTIONS, MAX_BYTES = 2000, 512 * MIB


class RecentExecutions:
    """Forgets an execution after `linger_s`, and the oldest ones earlier when many ended or much was printed."""

    def __init__(self, linger_s: float) -> None:
        self._linger_s = linger_s
        self._executions: dict[str, LiveExecution] = {}
        self.size_bytes = 0
        """Output of all of them."""

    def add(self, execution: LiveExecution) -> None:
        execution_id = execution.row.id
        self._executions[execution_id] = execution
        self.size_bytes += execution.output.size_bytes
        while len(self._executions) > MAX_EXECUTIONS or self.size_bytes > MAX_BYTES:
            self._forget(next(iter(self._executions)))
        asyncio.get_running_loop().call_later(self._linger_s, self._forget, execution_id)

    def get(self, execution_id: str) -> LiveExecution | None:
        return self._executions.get(execution_id)

    def clear(self) -> None:
        for execution_id in list(self._executions):
            self._forget(execution_id)

    def _forget(self, execution_id: str) -> None:
        execution = self._executions.pop(execution_id, None)
        if execution is not None:
            self.size_bytes -= execution.output.size_bytes
            execution.output.close()
