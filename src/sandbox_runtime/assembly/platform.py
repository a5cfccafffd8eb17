"""The platform: everything that doors need, built and taken apart in one place."""

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
    allowance_of,
    backend_of,
    floors_of,
    policies_of,
    preset_of,
    usual_of,
)
from sandbox_runtime.assembly.services import batches_opened, judge_opened, sessions_opened
from sandbox_runtime.assembly.storage import ledger_of, watch_ledger
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
    StepLimits,
    TaskRunner,
    ToolchainIdentity,
    open_build_cache,
)
from sandbox_runtime.engine.environments import RunPlanner
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
    """Everything a door needs, open as long as the context that gave it."""

    settings: Settings
    backend: Backend
    engine: Engine
    notebooks: Notebooks
    pool: BoxPool
    admission: Admission
    catalog: Catalog
    allowance: RequestLimits
    metrics: Metrics
    log: Log
    workshop: RunPlanner
    judge: Judge
    open_sessions: Sessions | str
    """Or why there are none."""
    open_batches: Batches | str
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
        return Invocations(self.pool, self.admission, self.workshop)


@asynccontextmanager
async def open_platform(
    settings: Settings,
    *,
    opening: BackendContext | None = None,
    ahead: bool = True,
    sessions: bool = False,
    log: Log | None = None,
) -> AsyncIterator[Platform]:
    """opening: a backend other than the one that settings name. ahead=False prepares nothing before it is asked for: right for
    a process that runs one job and ends. sessions: with the store and all that is remembered, which one server at a time has.
    log: another one than the settings describe."""
    log = log or open_log(settings.log_level, settings.log_format, color=settings.log_color)
    metrics = Metrics()
    ledger = ledger_of(settings)
    watch_ledger(metrics, ledger)
    catalog = load_catalog(settings.languages_dir)
    allowance = allowance_of(settings)
    policies = policies_of(settings)
    admission = Admission(settings.max_concurrency, settings.queue_size, settings.queue_wait_s, metrics)
    _make_toolchains_folder(settings.toolchains_dir)
    async with opening or backend_of(settings) as backend:
        floors = floors_of(settings, policies) if ahead else {}
        async with BoxPool(backend, floors, settings.pool_max, metrics, log) as pool:
            _watch(metrics, pool, admission)
            paths = GuestPaths(settings.guest_python, preset_of(settings)[0], settings.toolchains_dir, policies)
            step_limits = StepLimits(settings.queue_size, settings.queue_wait_s, metrics)
            started = PrestartPool(pool, paths.python, paths.toolchains, settings.started_pool_size, usual_of(settings), log)
            runner = TaskRunner(pool, paths, allowance.quotas, step_limits, metrics, log, started if ahead else None)
            engine = Engine(
                runner=runner,
                admission=admission,
                catalog=catalog,
                request_limits=allowance,
                builds=_builds(settings, backend, metrics, log, ledger),
                log=log,
                check_cache=CheckCache(settings.toolchains_dir, settings.guest_python, f"{backend.name} {version()}"),
                check_in_background=ahead and settings.check_languages,
            )
            workshop = RunPlanner(
                backend=backend,
                catalog=catalog,
                paths=paths,
                request_limits=allowance,
                step_limits=step_limits,
                metrics=metrics,
                optional_link_flags=engine.optional_link_flags,
                context_preset=CONTEXT,
                keep_bytes=settings.output_keep_bytes,
                standby_s=settings.session_standby_s,
            )
            async with (
                measure_loop_lag(metrics),
                started,
                engine,
                _notebooks(settings, pool, admission, metrics, log) as notebooks,
            ):
                metrics.add_gauge("sandbox_notebook_kernels_idle", "Notebook kernels that wait ready", lambda: notebooks.idle)
                around = PlatformParts(workshop, admission, metrics, log, ledger)
                judging = judge_opened(settings, engine, metrics, log, warm=backend.name == "namespaces")
                async with (
                    judging as judge,
                    sessions_opened(settings, around, wanted=sessions, ahead=ahead) as found,
                    batches_opened(settings, judge, found, log, ledger) as batches,
                ):
                    yield Platform(
                        settings=settings,
                        backend=backend,
                        engine=engine,
                        notebooks=notebooks,
                        pool=pool,
                        admission=admission,
                        catalog=catalog,
                        allowance=allowance,
                        metrics=metrics,
                        log=log,
                        workshop=workshop,
                        judge=judge,
                        open_sessions=found,
                        open_batches=batches,
                        ledger=ledger,
                    )


def _make_toolchains_folder(path: str) -> None:
    """Boxes are shown the folder as it was found when their backend was opened: one that is made later, by an installation
    meanwhile, would be missing. Where it cannot be made there will be none."""
    with contextlib.suppress(OSError):
        os.makedirs(path, mode=0o755, exist_ok=True)


def _notebooks(settings: Settings, pool: BoxPool, admission: Admission, metrics: Metrics, log: Log) -> Notebooks:
    """Whatever programs may reach, notebooks reach nothing: that is their protocol's word."""
    return Notebooks(
        pool=pool,
        admission=admission,
        request_limits=allowance_of(settings),
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


def _watch(metrics: Metrics, pool: BoxPool, admission: Admission) -> None:
    metrics.add_gauge("sandbox_pool_idle", "Boxes that wait ready", lambda: pool.idle)
    metrics.add_gauge("sandbox_pool_busy", "Boxes in use", lambda: pool.in_use)
    metrics.add_gauge("sandbox_queue_length", "Requests that wait for a place", lambda: admission.waiting)
    metrics.add_gauge("sandbox_running", "Requests that have a place", lambda: admission.busy)


def version() -> str:
    return metadata.version("sandbox-runtime")
