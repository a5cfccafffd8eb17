"""Nodes: the machines that host sessions, and the reports of those that other servers run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.model import Artifact, Execution, ExecutionState, Node, Session, SessionState
from sandbox_runtime.model.execution import truncate_text
from sandbox_runtime.sessions import machine
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions.executor import Executor
from sandbox_runtime.sessions.lifecycle.transitions import Transitions
from sandbox_runtime.sessions.nodes.local_nodes import LocalNodes
from sandbox_runtime.store import NodeFilter, Page, Store

ACTOR = "node"
_BOX_NAME = "sandbox-"
_IN_FLIGHT = (ExecutionState.pending, ExecutionState.running)


class NodeApi:
    """The nodes of the store; those of this server with their current load."""

    def __init__(self, store: Store, local: LocalNodes) -> None:
        self._store = store
        self._local = local

    async def list(self, where: NodeFilter | None = None, limit: int = 50, offset: int = 0) -> Page[Node]:
        page = await self._store.nodes.list(where, limit, offset)
        current = {node.id: node for node in self._local.current()}
        return dataclasses.replace(page, items=tuple(current.get(row.id, row) for row in page.items))

    async def get(self, node_id: str) -> Node:
        """Return a node. Raises NotFound if it is missing."""
        row = await self._store.nodes.get(node_id)
        return next((node for node in self._local.current() if node.id == node_id), row)


class NodeReports:
    """Reports of other nodes about the sessions and executions that run there.

    A report may arrive twice, late or never: what has ended keeps its end. For an execution that runs on this server, reports are
    refused: this server knows its end itself.
    """

    def __init__(self, deps: SessionDeps, transitions: Transitions, executor: Executor) -> None:
        self._deps = deps
        self._transitions = transitions
        self._executor = executor

    async def find_session(self, box: str, name: str = "") -> str:
        """Return the session id of a box, given the box's id or its name, which contains the session id. Raises NotFound."""
        row = await self._deps.store.boxes.find(box)
        if row is not None and row.session:
            return row.session
        for text in (name, box):
            if text.startswith(_BOX_NAME):
                return text.removeprefix(_BOX_NAME)
        raise NotFound(f"there is no box {box!r}")

    async def mark_ready(self, session_id: str, box: str) -> Session:
        """Mark the session as running: its box is ready. A running session is returned unchanged."""
        session = await self._deps.store.sessions.get(session_id)
        if session.state is SessionState.running:
            return session
        return await self._transitions.apply(session_id, machine.Opened(box), ACTOR)

    async def mark_exited(self, session_id: str, exit_code: int, reason: str) -> Session:
        """End the session: its box has exited. An ended session is returned unchanged."""
        session = await self._deps.store.sessions.get(session_id)
        if session.state.ended:
            return session
        return await self._transitions.apply(session_id, machine.Finished(exit_code, reason), ACTOR)

    async def record_heartbeat(self, execution_id: str) -> None:
        await self._deps.store.executions.get(execution_id)
        await self._deps.store.executions.record_heartbeat((execution_id,), timestamps.now_ms())

    async def mark_running(self, execution_id: str, started_ms: int | None) -> Execution:
        self._check_remote(execution_id)
        now_ms = timestamps.now_ms()
        return await self._deps.store.executions.update_if(
            execution_id,
            _IN_FLIGHT,
            by=ACTOR,
            state=ExecutionState.running,
            started_ms=started_ms or now_ms,
            heartbeat_ms=now_ms,
        )

    async def mark_ended(self, execution_id: str, state: ExecutionState, **fields: Any) -> tuple[Execution, bool]:
        """Store the end of an execution. Return it and whether its end is new. Raises Conflict if it has ended differently."""
        row = await self._deps.store.executions.get(execution_id)
        if row.state.ended:
            if row.state is not state:
                raise Conflict(f"the execution {execution_id!r} has ended as {row.state}, not {state}")
            return row, False
        self._check_remote(execution_id)
        audit = entry(ACTOR, "report", "execution", execution_id, state=state)
        row = await self._deps.store.executions.update_if(
            execution_id,
            _IN_FLIGHT,
            by=ACTOR,
            audit=audit,
            state=state,
            **{"completed_ms": timestamps.now_ms(), **_truncate_output(fields)},
        )
        return row, True

    async def add_artifacts(self, execution_id: str, artifacts: Sequence[Artifact]) -> None:
        await self._deps.store.executions.get(execution_id)
        await self._deps.store.artifacts.add_all(artifacts)
        execution = self._executor.find(execution_id)
        if execution is not None:
            execution.artifacts = tuple(sorted((*execution.artifacts, *artifacts), key=lambda artifact: artifact.path))

    def _check_remote(self, execution_id: str) -> None:
        execution = self._executor.find(execution_id)
        if execution is not None and not execution.done.done():
            raise Conflict(f"the execution {execution_id!r} runs on this server and cannot be reported by a node")


def _truncate_output(fields: dict[str, Any]) -> dict[str, Any]:
    for name in ("stdout", "stderr"):
        if name in fields:
            fields[name], fields[f"{name}_dropped_bytes"] = truncate_text(fields[name])
    return fields
