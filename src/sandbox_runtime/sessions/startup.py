"""How this room is opened: recovery first, then the janitor, the pool, and the verbs; in the other order on the way out."""

from __future__ import annotations

import fcntl
import os
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.engine import Admission
from sandbox_runtime.engine.environments import RunPlanner
from sandbox_runtime.errors import Conflict, Unavailable
from sandbox_runtime.model import Node, NodeState, Template
from sandbox_runtime.sessions.api import Sessions
from sandbox_runtime.sessions.deps import Ground
from sandbox_runtime.sessions.executions.contexts import Contexts
from sandbox_runtime.sessions.executions.executor import SHUT_DOWN, Executions
from sandbox_runtime.sessions.executions.usage import Recorder
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle
from sandbox_runtime.sessions.lifecycle.pool import EnvironmentPool
from sandbox_runtime.sessions.lifecycle.recovery import recover
from sandbox_runtime.sessions.lifecycle.snapshots import KeptFiles
from sandbox_runtime.sessions.maintenance.janitor import Janitor
from sandbox_runtime.sessions.nodes.node import Host, LocalHost
from sandbox_runtime.sessions.options import BASIC_TEMPLATE, SessionOptions
from sandbox_runtime.sessions.packages.installer import Dependencies
from sandbox_runtime.sessions.registry import Directory
from sandbox_runtime.store import Store
from sandbox_runtime.telemetry import Log, Metrics, SessionMetrics
from sandbox_runtime.workspace.ledger import Ledger
from sandbox_runtime.workspace.session_files import FileBounds
from sandbox_runtime.workspace.storage import Storage

_DESCRIPTORS, _DESCRIPTORS_EACH = 4096, 4


@dataclass(frozen=True, slots=True)
class Around:
    """What is open already, and stays so longer than this room."""

    workshop: RunPlanner
    admission: Admission
    metrics: Metrics
    log: Log
    ledger: Ledger


@contextmanager
def holding_node(folder: str, name: str) -> Iterator[None]:
    """One server has a node: two would take each other's sessions for lost. Let go by the kernel when the process ends."""
    path = f"{folder}/node-{name}.lock"
    try:
        os.makedirs(folder, mode=0o755, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(f"sessions cannot be kept in {folder}: {error.strerror}; set state_dir to a folder of yours") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            told = f"another server has the node {name!r} ({path} is locked); set node_name, or state_dir, to another value"
            raise Unavailable(told) from error
        yield
    finally:
        os.close(descriptor)


@asynccontextmanager
async def open_sessions(
    around: Around, store: Store, storage: Storage, options: SessionOptions, bounds: FileBounds, *, ahead: bool = True
) -> AsyncIterator[Sessions]:
    """ahead=False: nothing stands ready before it is asked for."""
    _make_room(options.most_sessions, around.log)
    workshop = around.workshop
    host = LocalHost(workshop, options.node, options.hostname, options.limits.disk_files, options.most_sessions)
    directory = Directory()
    recorder = Recorder(store, directory, around.log)
    kept = KeptFiles(storage, around.ledger)
    await kept.recount(store)
    ground = Ground(
        store=store,
        options=options,
        directory=directory,
        hosts={host.id: host},
        snapshots=kept,
        admission=around.admission,
        metrics=SessionMetrics(around.metrics),
        log=around.log,
        recorder=recorder,
        ledger=around.ledger,
    )
    pool = EnvironmentPool(host, options.most_ready if options.pool_enabled and ahead else 0, around.log)
    executions = Executions(ground)
    lifecycle = Lifecycle(ground, pool, executions)
    await _prepare(ground, lifecycle, host)
    network = workshop.usual_policy.network.mode != "none"
    dependencies = Dependencies(ground, workshop.ways.python, workshop.node_bin, network=network, index_url=options.package_index)
    janitor = Janitor(ground, lifecycle, executions)
    sessions = Sessions(ground, lifecycle, executions, Contexts(ground), dependencies, janitor, bounds)
    _watch(around.metrics, ground, pool, host)
    async with recorder, pool, janitor:
        if ahead and options.pool_enabled:
            await lifecycle.warm(options.template)
        try:
            yield sessions
        finally:
            await sessions.close(SHUT_DOWN)


def _make_room(sessions: int, log: Log) -> None:
    """Each session holds a few descriptors; what a process gets without asking is not enough for many."""
    needed = _DESCRIPTORS + _DESCRIPTORS_EACH * sessions
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < needed and soft != resource.RLIM_INFINITY:
        most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        if most < needed:
            log.warning("descriptors may run out before sessions do", limit=hard, needed=needed)


async def _prepare(ground: Ground, lifecycle: Lifecycle, host: Host) -> None:
    """Rows that others refer to come first, then what the last server left."""
    lifecycle.nodes[host.id] = await _registered(ground, host)
    await _seeded(ground)
    found = await recover(ground, lifecycle)
    if found.lost or found.kept or found.crashed:
        ground.log.warning("sessions of the server before", lost=found.lost, kept=found.kept, crashed_executions=found.crashed)


async def _registered(ground: Ground, host: Host) -> Node:
    nodes, now_ms = ground.store.nodes, timestamps.now_ms()
    row = host.describe(now_ms)
    known = await nodes.find(row.id)
    if known is None:
        return await nodes.add(row)
    state = NodeState.online if known.state is NodeState.offline else known.state
    return await nodes.update(
        known,
        state=state,
        hostname=row.hostname,
        backend=row.backend,
        cpu_cores=row.cpu_cores,
        memory_mb=row.memory_mb,
        most_boxes=row.most_boxes,
        labels=row.labels,
        heartbeat_ms=now_ms,
    )


async def _seeded(ground: Ground) -> None:
    options, now_ms = ground.options, timestamps.now_ms()
    if options.template != BASIC_TEMPLATE or await ground.store.templates.find(BASIC_TEMPLATE) is not None:
        return
    try:
        await ground.store.templates.add(
            Template(id=BASIC_TEMPLATE, name="Python Basic", image=options.template_image, created_ms=now_ms)
        )
    except Conflict:  # another server that starts at the same time
        return


def _watch(metrics: Metrics, ground: Ground, pool: EnvironmentPool, host: Host) -> None:
    metrics.add_gauge("sandbox_sessions_active", "Sessions that have not ended", lambda: ground.directory.count)
    metrics.add_gauge("sandbox_figures_left_out", "Figures of sessions that could not be noted", lambda: ground.recorder.left_out)
    metrics.add_gauge("sandbox_warm_pool_size", "Homes that stand ready for sessions", lambda: pool.size)
    metrics.add_gauge("sandbox_runtime_cpu_usage", "Share of the processors in use", lambda: host.usage()[0])
    metrics.add_gauge("sandbox_runtime_memory_usage", "Share of the memory in use", lambda: host.usage()[1])
