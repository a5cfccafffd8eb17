"""Opens and closes sessions for a server: recovery first, then the recorder, the warm pool and the janitor."""

from __future__ import annotations

import fcntl
import os
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.engine import Admission
from sandbox_runtime.engine.environments import EnvironmentParts
from sandbox_runtime.errors import Conflict, Unavailable
from sandbox_runtime.model import Node, NodeState, Template
from sandbox_runtime.sessions.api.sessions import Sessions
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions.executor import Executor
from sandbox_runtime.sessions.executions.runner import SHUT_DOWN
from sandbox_runtime.sessions.executions.usage import UsageRecorder
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle
from sandbox_runtime.sessions.lifecycle.pool import EnvironmentPool
from sandbox_runtime.sessions.lifecycle.recovery import recover
from sandbox_runtime.sessions.lifecycle.snapshots import SessionSnapshots
from sandbox_runtime.sessions.maintenance.janitor import Janitor
from sandbox_runtime.sessions.nodes.node import LocalNodeHost, NodeHost
from sandbox_runtime.sessions.options import BASIC_TEMPLATE, SessionOptions
from sandbox_runtime.sessions.packages.installer import PackageInstaller
from sandbox_runtime.sessions.registry import SessionRegistry
from sandbox_runtime.store import Store
from sandbox_runtime.telemetry import Log, Metrics, SessionMetrics
from sandbox_runtime.workspace.ledger import Ledger
from sandbox_runtime.workspace.session_files import FileBounds
from sandbox_runtime.workspace.storage import Storage

_DESCRIPTORS, _DESCRIPTORS_PER_SESSION = 4096, 4


@dataclass(frozen=True, slots=True)
class PlatformParts:
    """Parts of the platform that are opened before sessions and closed after them."""

    environments: EnvironmentParts
    admission: Admission
    metrics: Metrics
    log: Log
    ledger: Ledger


@contextmanager
def lock_node(folder: str, name: str) -> Iterator[None]:
    """Hold the lock of a node: two servers on one node would consider each other's sessions lost.

    The kernel releases the lock when the process ends. Raises Unavailable if another server holds it.
    """
    path = f"{folder}/node-{name}.lock"
    try:
        os.makedirs(folder, mode=0o755, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(
            f"sessions cannot be stored in {folder}: {error.strerror}; set state_dir to a writable folder"
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = f"another server uses the node {name!r} ({path} is locked); set node_name or state_dir to another value"
            raise Unavailable(message) from error
        yield
    finally:
        os.close(descriptor)


@asynccontextmanager
async def open_sessions(
    platform: PlatformParts, store: Store, storage: Storage, options: SessionOptions, bounds: FileBounds, *, warm: bool = True
) -> AsyncIterator[Sessions]:
    """Open sessions and recover those of the last server. warm: open environments for the default template in advance."""
    _raise_descriptor_limit(options.max_sessions, platform.log)
    planner = platform.environments.planner
    host = LocalNodeHost(platform.environments, options.node, options.hostname, options.limits.disk_files, options.max_sessions)
    registry = SessionRegistry()
    recorder = UsageRecorder(store, registry, platform.log)
    snapshots = SessionSnapshots(storage, platform.ledger)
    await snapshots.recount(store)
    deps = SessionDeps(
        store=store,
        options=options,
        registry=registry,
        hosts={host.id: host},
        snapshots=snapshots,
        admission=platform.admission,
        metrics=SessionMetrics(platform.metrics),
        log=platform.log,
        recorder=recorder,
        ledger=platform.ledger,
    )
    pool = EnvironmentPool(host, options.max_ready if options.pool_enabled and warm else 0, platform.log)
    executor = Executor(deps)
    lifecycle = Lifecycle(deps, pool, executor)
    await _prepare(deps, lifecycle, host)
    network = planner.default_policy.network.mode != "none"
    installer = PackageInstaller(
        deps, planner.paths.python, planner.paths.node_bin, network=network, index_url=options.package_index
    )
    janitor = Janitor(deps, lifecycle, executor)
    sessions = Sessions(deps, lifecycle, executor, installer, janitor, bounds)
    _register_metrics(platform.metrics, deps, pool, host)
    async with recorder, pool, janitor:
        if warm and options.pool_enabled:
            await lifecycle.environments.warm(options.template)
        try:
            yield sessions
        finally:
            await sessions.close(SHUT_DOWN)


def _raise_descriptor_limit(sessions: int, log: Log) -> None:
    """Raise the soft limit of open files: each session holds a few, and the default is too low for many sessions."""
    needed = _DESCRIPTORS + _DESCRIPTORS_PER_SESSION * sessions
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < needed and soft != resource.RLIM_INFINITY:
        limit = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
        if limit < needed:
            log.warning("descriptors may run out before sessions do", limit=hard, needed=needed)


async def _prepare(deps: SessionDeps, lifecycle: Lifecycle, host: NodeHost) -> None:
    """Store the node and the template, which sessions refer to, then recover what the last server left."""
    lifecycle.nodes.rows[host.id] = await _register_node(deps, host)
    await _seed_template(deps)
    report = await recover(deps, lifecycle.transitions)
    if report.lost or report.kept or report.crashed:
        deps.log.warning("sessions of the server before", lost=report.lost, kept=report.kept, crashed_executions=report.crashed)


async def _register_node(deps: SessionDeps, host: NodeHost) -> Node:
    nodes, now_ms = deps.store.nodes, timestamps.now_ms()
    row = host.describe(now_ms)
    existing = await nodes.find(row.id)
    if existing is None:
        return await nodes.add(row)
    state = NodeState.online if existing.state is NodeState.offline else existing.state
    return await nodes.update(
        existing,
        state=state,
        hostname=row.hostname,
        backend=row.backend,
        cpu_cores=row.cpu_cores,
        memory_mb=row.memory_mb,
        max_boxes=row.max_boxes,
        labels=row.labels,
        heartbeat_ms=now_ms,
    )


async def _seed_template(deps: SessionDeps) -> None:
    options, now_ms = deps.options, timestamps.now_ms()
    if options.template != BASIC_TEMPLATE or await deps.store.templates.find(BASIC_TEMPLATE) is not None:
        return
    try:
        await deps.store.templates.add(
            Template(id=BASIC_TEMPLATE, name="Python Basic", image=options.template_image, created_ms=now_ms)
        )
    except Conflict:  # another server is starting at the same time
        return


def _register_metrics(metrics: Metrics, deps: SessionDeps, pool: EnvironmentPool, host: NodeHost) -> None:
    metrics.add_gauge("sandbox_sessions_active", "Sessions that have not ended", lambda: deps.registry.count)
    metrics.add_gauge("sandbox_figures_left_out", "Usage records of sessions that were dropped", lambda: deps.recorder.dropped)
    metrics.add_gauge("sandbox_warm_pool_size", "Environments that are ready for sessions", lambda: pool.size)
    metrics.add_gauge("sandbox_runtime_cpu_usage", "Share of the processors in use", lambda: host.usage()[0])
    metrics.add_gauge("sandbox_runtime_memory_usage", "Share of the memory in use", lambda: host.usage()[1])
