"""Nodes, and which of them an agent was on. Places are taken and given back in one statement, so that no two servers take the
last."""

from __future__ import annotations

import builtins
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, case, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from sandbox_runtime.errors import Conflict, NotFound
from sandbox_runtime.model import Node, NodeState, NodeVisit, Resources
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.model.node import MAX_AGENT_NODES
from sandbox_runtime.store import mappings
from sandbox_runtime.store.database import Database
from sandbox_runtime.store.errors import is_missing_reference
from sandbox_runtime.store.tables import AGENT_NODES, NODES
from sandbox_runtime.store.versioned_repository import VersionedRepository


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFilter:
    """silent_since_ms: no heartbeat since then."""

    states: tuple[NodeState, ...] | None = None
    backend: str | None = None
    silent_since_ms: int | None = None


class Nodes(VersionedRepository[Node, NodeFilter]):
    mapping = mappings.NODE

    async def reserve(self, key: str, resources: Resources) -> None:
        """Takes a place on a node that is online and has one. Conflict when it has none."""
        column = NODES.c
        room = (
            column.f_status == NodeState.online,
            column.f_running_containers < column.f_max_containers,
            column.f_allocated_cpu_cores + resources.cpu_cores <= column.f_total_cpu_cores,
            column.f_allocated_memory_mb + _whole_mb(resources) <= column.f_total_memory_mb,
        )
        if not await self._add_allocation(key, resources, 1, *room):
            raise Conflict(f"the node {key!r} is not online, or has no room for {resources}")

    async def release(self, key: str, resources: Resources) -> None:
        """Gives a place back; a node that is gone needs none."""
        await self._add_allocation(key, resources, -1)

    async def record_heartbeat(self, key: str, at_ms: int, cpu_usage: float, memory_usage: float) -> None:
        """Notes that it is alive and how busy. No change of its own: it stands in the way of nobody's update."""
        values = {"f_last_heartbeat_at": at_ms, "f_cpu_usage": cpu_usage, "f_mem_usage": memory_usage}
        await self._execute_on(update(NODES).where(NODES.c.f_node_id == key).values(values), key)

    async def _add_allocation(self, key: str, resources: Resources, places: int, *where: ColumnElement[bool]) -> int:
        values = {
            name: _not_below_zero(NODES.c[name] + places * amount)
            for name, amount in (
                ("f_running_containers", 1),
                ("f_allocated_cpu_cores", resources.cpu_cores),
                ("f_allocated_memory_mb", _whole_mb(resources)),
            )
        }
        statement = update(NODES).where(NODES.c.f_node_id == key, *where).values(values)
        return await self._write(lambda connection: connection.execute(statement).rowcount, key)

    def _clauses(self, filters: NodeFilter) -> tuple[ColumnElement[bool], ...]:
        clauses: builtins.list[ColumnElement[bool]] = []
        if filters.states is not None:
            clauses.append(NODES.c.f_status.in_(filters.states))
        if filters.backend is not None:
            clauses.append(NODES.c.f_runtime_type == filters.backend)
        if filters.silent_since_ms is not None:
            clauses.append(NODES.c.f_last_heartbeat_at < filters.silent_since_ms)
        return tuple(clauses)


def _whole_mb(resources: Resources) -> int:
    return -(-resources.memory_bytes // MIB)


def _not_below_zero(amount: ColumnElement[float]) -> ColumnElement[float]:
    return case((amount < 0, 0), else_=amount)


class Agents:
    """Which nodes an agent was on, the latest first; the oldest are forgotten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record_visit(self, visit: NodeVisit) -> None:
        try:
            await self._database.write(lambda connection: _record_visit(connection, visit))
        except IntegrityError as error:
            if is_missing_reference(error):
                raise NotFound(f"there is no node {visit.node!r}") from error
            # Somebody noted the same visit in between: now there is a row, and nothing to collide with.
            await self._database.write(lambda connection: _record_visit(connection, visit))

    async def visits(self, agent: str) -> tuple[NodeVisit, ...]:
        return await self._database.read(lambda connection: _select_visits(connection, agent))


def _select_visits(connection: Connection, agent: str) -> tuple[NodeVisit, ...]:
    column = AGENT_NODES.c
    query = select(column.f_agent_id, column.f_node_id, column.f_used_at).where(column.f_agent_id == agent)
    rows = connection.execute(query.order_by(column.f_used_at.desc(), column.f_node_id).limit(MAX_AGENT_NODES)).all()
    return tuple(NodeVisit(*row) for row in rows)


def _record_visit(connection: Connection, visit: NodeVisit) -> None:
    column = AGENT_NODES.c
    mine = column.f_agent_id == visit.agent
    at = (mine, column.f_node_id == visit.node)
    if not connection.execute(update(AGENT_NODES).where(*at).values(f_used_at=visit.used_ms)).rowcount:
        row = {"f_agent_id": visit.agent, "f_node_id": visit.node, "f_used_at": visit.used_ms}
        connection.execute(insert(AGENT_NODES), row)
        kept = [one.node for one in _select_visits(connection, visit.agent)]
        connection.execute(delete(AGENT_NODES).where(mine, column.f_node_id.not_in(kept)))
