"""The platform: everything that the HTTP server, the MCP server and the command line use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import metadata

from sandbox_runtime.assembly.box_config import (
    CONTEXT,
    NOTEBOOK,
    build_default_limits,
    build_policies,
    build_pool_minimums,
    build_request_limits,
    open_configured_backend,
    parse_preset,
)
from sandbox_runtime.assembly.services import open_configured_batches, open_configured_sessions, open_judge
from sandbox_runtime.assembly.storage import add_ledger_gauges, build_ledger
from sandbox_runtime.engine import (
    Admission,
    BoxPool,
    BuildCache,
    CheckCache,
    Engine,
    GuestPaths,
    Invocations,
    PrestartPool,
    RequestLimits,
    RunPlanner,
    StepLimits,
    TaskRunner,
    ToolchainIdentity,
    open_build_cache,
)
from sandbox_runtime.engine.environments import EnvironmentParts
from sandbox_runtime.engine.notebook import Notebooks
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation.guest_interpreter import WORKDIR
from sandbox_runtime.isolation.port import Backend, BackendContext
from sandbox_runtime.judge.batches import Batches
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.languages import Catalog, load_catalog
from sandbox_runtime.model import Network, Policy, StorageKind
from sandbox_runtime.sessions import PlatformParts, Sessions
from sandbox_runtime.settings import Settings
from sandbox_runtime.telemetry import Log, Metrics, measure_loop_lag, open_log
from sandbox_runtime.workspace.ledger import PLATFORM, Ledger


@dataclass(frozen=True, slots=True)
class Platform:
    """The open parts of a server. Valid inside the `open_platform` block."""

    settings: Settings
    backend: Backend
    engine: Engine
    notebooks: Notebooks
    pool: BoxPool
    admission: Admission
    catalog: Catalog
    request_limits: RequestLimits
    metrics: Metrics
    log: Log
    planner: RunPlanner
    environments: EnvironmentParts
    judge: Judge
    open_sessions: Sessions | str
    """The sessions, or the reason why they are not available."""
    open_batches: Batches | str
    """The batches, or the reason why they are not available."""
    ledger: Ledger

    @property
    def sessions(self) -> Sessions:
        if isinstance(self.open_sessions, str):
            raise Unavailable(self.open_sessions)
        return self.open_sessions

    @property
    def batches(self) -> Batches:
        if isinstance(self.open_batches, str):
            raise Unavailable(self.open_batches)
        return self.open_batches

    @property
    def invocations(self) -> Invocations:
        return self.engine.invocations


@asynccontextmanager
async def open_platform(
    settings: Settings,
    *,
    backend_context: BackendContext | None = None,
    prewarm: bool = True,
    sessions: bool = False,
    log: Log | None = None,
) -> AsyncIterator[Platform]:
    """Open all parts of the platform and close them at the end of the block.

    backend_context: used instead of the backend that the settings name.
    prewarm: open boxes and check languages in advance. False suits a process that runs one job and ends.
    sessions: also open the store, sessions and batches. Only one server per node can do so.
    log: used instead of the log that the settings describe.
    """
    log = log or open_log(settings.log_level, settings.log_format, color=settings.log_color)
    metrics = Metrics()
    ledger = build_ledger(settings)
    add_ledger_gauges(metrics, ledger)
    catalog = load_catalog(settings.languages_dir)
    request_limits = build_request_limits(settings)
    policies = build_policies(settings)
    admission = Admission(settings.max_concurrency, settings.queue_size, settings.queue_wait_s, metrics)
    _make_toolchains_folder(settings.toolchains_dir)
    async with backend_context or open_configured_backend(settings) as backend:
        minimums = build_pool_minimums(settings, policies) if prewarm else {}
        async with BoxPool(backend, minimums, settings.pool_max, metrics, log) as pool:
            _add_gauges(metrics, pool, admission)
            paths = GuestPaths(settings.guest_python, parse_preset(settings)[0], settings.toolchains_dir, policies)
            step_limits = StepLimits(settings.queue_size, settings.queue_wait_s, metrics)
            prestart_pool = PrestartPool(
                pool, paths.python, paths.toolchains, settings.started_pool_size, build_default_limits(settings), log
            )
            planner = RunPlanner(catalog, paths, request_limits, step_limits, metrics, CONTEXT)
            engine = Engine(
                planner=planner,
                runner=TaskRunner(pool, planner, log, prestart_pool if prewarm else None),
                admission=admission,
                builds=_builds(settings, backend, metrics, log, ledger),
                log=log,
                check_cache=CheckCache(settings.toolchains_dir, settings.guest_python, f"{backend.name} {version()}"),
                check_in_background=prewarm and settings.check_languages,
            )
            environments = EnvironmentParts(
                backend=backend,
                planner=planner,
                checker=engine.checker,
                keep_bytes=settings.output_keep_bytes,
                standby_s=settings.session_standby_s,
            )
            async with (
                measure_loop_lag(metrics),
                prestart_pool,
                engine,
                _notebooks(settings, pool, admission, metrics, log) as notebooks,
            ):
                metrics.add_gauge("sandbox_notebook_kernels_idle", "Idle notebook kernels that are ready", lambda: notebooks.idle)
                parts = PlatformParts(environments, admission, metrics, log, ledger)
                opened_judge = open_judge(settings, engine, metrics, log, warm=backend.name == "namespaces")
                async with (
                    opened_judge as judge,
                    open_configured_sessions(settings, parts, enabled=sessions, prewarm=prewarm) as opened_sessions,
                    open_configured_batches(settings, judge, opened_sessions, log, ledger) as batches,
                ):
                    yield Platform(
                        settings=settings,
                        backend=backend,
                        engine=engine,
                        notebooks=notebooks,
                        pool=pool,
                        admission=admission,
                        catalog=catalog,
                        request_limits=request_limits,
                        metrics=metrics,
                        log=log,
                        planner=planner,
                        environments=environments,
                        judge=judge,
                        open_sessions=opened_sessions,
                        open_batches=batches,
                        ledger=ledger,
                    )


def _make_toolchains_folder(path: str) -> None:
    """Create the folder before the backend opens: boxes mount it as it is then and would miss one that an installation creates
    later. Ignored if it cannot be created; then boxes have no toolchains."""
    with contextlib.suppress(OSError):
        os.makedirs(path, mode=0o755, exist_ok=True)


def _notebooks(settings: Settings, pool: BoxPool, admission: Admission, metrics: Metrics, log: Log) -> Notebooks:
    """Build the notebooks. They never have a network, whatever the settings allow programs: their protocol promises it."""
    return Notebooks(
        pool=pool,
        admission=admission,
        request_limits=build_request_limits(settings),
        python=settings.guest_python,
        policy=Policy(Network(), NOTEBOOK, single_use=True, disk_bytes=settings.disk_limit, disk_files=settings.file_limit),
        ready=settings.notebook_pool_size,
        keep_bytes=settings.output_keep_bytes,
        metrics=metrics,
        log=log,
    )


def _builds(settings: Settings, backend: Backend, metrics: Metrics, log: Log, ledger: Ledger) -> BuildCache | None:
    return open_build_cache(
        settings.builds_dir,
        settings.build_cache_bytes,
        settings.build_cache_entry_bytes,
        identity=ToolchainIdentity(settings.guest_python, settings.toolchains_dir),
        workdir=WORKDIR,
        layers=backend.layers(),
        metrics=metrics,
        log=log,
        charge=ledger.open(StorageKind.builds, PLATFORM),
    )


def _add_gauges(metrics: Metrics, pool: BoxPool, admission: Admission) -> None:
    metrics.add_gauge("sandbox_pool_idle", "Idle boxes that are ready", lambda: pool.idle)
    metrics.add_gauge("sandbox_pool_busy", "Boxes in use", lambda: pool.in_use)
    metrics.add_gauge("sandbox_queue_length", "Requests waiting for a slot", lambda: admission.waiting)
    metrics.add_gauge("sandbox_running", "Requests that hold a slot", lambda: admission.busy)


def version() -> str:
    return metadata.version("sandbox-runtime")
