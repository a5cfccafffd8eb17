"""The one place where objects are built.

async with open_platform(settings) as platform:
    result = await platform.engine.run(job)
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from sandbox_runtime.benchmarks import registry
from sandbox_runtime.engine import (
    Admission,
    Ahead,
    Allowance,
    BoxPool,
    Builds,
    Engine,
    Identity,
    Invocations,
    Remembered,
    TaskRunner,
    Turns,
    Ways,
    contexts,
    handlers,
    open_builds,
)
from sandbox_runtime.engine.homes import Workshop
from sandbox_runtime.engine.notebook import MODULES as NOTEBOOK_MODULES
from sandbox_runtime.engine.notebook import Notebooks
from sandbox_runtime.engine.notebook import given as notebook_given
from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.guest import WORKDIR
from sandbox_runtime.isolation.nat import NatOptions
from sandbox_runtime.isolation.options import DATA_MODULES, PLOT_MODULES, STANDARD_MODULES, BackendOptions, Preset
from sandbox_runtime.isolation.port import Backend, Opening
from sandbox_runtime.judge import integrity
from sandbox_runtime.judge import warm as judge_warm
from sandbox_runtime.judge.attempts import Attempts
from sandbox_runtime.judge.batches import Batches, BatchOptions, by, open_batches
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.judge.loop import Loop, LoopOptions
from sandbox_runtime.judge.rows import RowOptions, open_rows
from sandbox_runtime.languages import Catalog, load_catalog
from sandbox_runtime.model import Dataset, Limits, Network, Policy, PoolSizes
from sandbox_runtime.model.limits import KIB
from sandbox_runtime.sessions import Around, SessionOptions, Sessions, holding_node, open_sessions
from sandbox_runtime.settings import Settings
from sandbox_runtime.store import StoreOptions, open_store
from sandbox_runtime.telemetry import JudgeMetrics, Log, Metrics, open_log
from sandbox_runtime.workspace import Quotas
from sandbox_runtime.workspace.session_files import FileBounds
from sandbox_runtime.workspace.storage import S3Options, StorageOptions, open_storage

STD, NOTEBOOK, CONTEXT, JUDGE = "std", "notebook", "context", "judge"
PRESETS: Mapping[str, tuple[str, ...]] = {STD: (), "data": DATA_MODULES, "plot": PLOT_MODULES}
"""Presets with a name and what they load beside the standard modules; every other list of modules is the preset "custom"."""


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
    allowance: Allowance
    metrics: Metrics
    log: Log
    workshop: Workshop
    judge: Judge
    open_sessions: Sessions | str
    """Or why there are none."""
    open_batches: Batches | str

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
    settings: Settings, *, opening: Opening | None = None, ahead: bool = True, sessions: bool = False
) -> AsyncIterator[Platform]:
    """opening: a backend other than the one that settings name. ahead=False prepares nothing before it is asked for: right for
    a process that runs one job and ends. sessions: with the store and all that is remembered, which one server at a time has."""
    log = open_log(settings.log_level, settings.log_format, color=settings.log_color)
    metrics = Metrics()
    catalog = load_catalog(settings.languages_dir)
    allowance = allowance_of(settings)
    policies = policies_of(settings)
    admission = Admission(settings.max_concurrency, settings.queue_size, settings.queue_wait_s, metrics)
    _make_toolchains_folder(settings.toolchains_dir)
    async with opening or backend_of(settings) as backend:
        floors = _floors(settings, policies) if ahead else {}
        async with BoxPool(backend, floors, settings.pool_max, metrics, log) as pool:
            _watch(metrics, pool, admission)
            ways = Ways(settings.guest_python, preset_of(settings)[0], settings.toolchains_dir, policies)
            turns = Turns(settings.queue_size, settings.queue_wait_s, metrics)
            started = Ahead(pool, ways.python, ways.toolchains, settings.started_pool_size, _usual(settings), log)
            runner = TaskRunner(pool, ways, allowance.quotas, turns, metrics, log, started if ahead else None)
            engine = Engine(
                runner=runner,
                admission=admission,
                catalog=catalog,
                allowance=allowance,
                builds=_builds(settings, backend, metrics, log),
                log=log,
                memory=Remembered(settings.toolchains_dir, settings.guest_python, f"{backend.name} {version()}"),
                prove_ahead=ahead and settings.check_languages,
            )
            workshop = Workshop(
                backend=backend,
                catalog=catalog,
                ways=ways,
                allowance=allowance,
                turns=turns,
                metrics=metrics,
                linked=engine.linked,
                context_preset=CONTEXT,
                keep_bytes=settings.output_keep_bytes,
                standby_s=settings.session_standby_s,
            )
            async with started, engine, _notebooks(settings, pool, admission, metrics, log) as notebooks:
                metrics.watch("sandbox_notebook_kernels_idle", "Notebook kernels that wait ready", lambda: notebooks.idle)
                around = Around(workshop, admission, metrics, log)
                judging = _judge(settings, engine, metrics, log, warm=backend.name == "namespaces")
                async with (
                    judging as judge,
                    _sessions(settings, around, wanted=sessions, ahead=ahead) as found,
                    _batches(settings, judge, found, log) as batches,
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
                    )


@asynccontextmanager
async def _sessions(settings: Settings, around: Around, *, wanted: bool, ahead: bool) -> AsyncIterator[Sessions | str]:
    """A node that another server has is no reason for this one not to do the rest."""
    if not wanted:
        yield "this process was started without sessions"
        return
    async with AsyncExitStack() as stack:
        try:
            stack.enter_context(holding_node(settings.kept_dir, settings.node_name))
        except Unavailable as error:
            around.log.warning("there are no sessions here", reason=str(error))
            yield str(error)
            return
        store = await stack.enter_async_context(open_store(settings.store_url, store_options_of(settings)))
        storage = await stack.enter_async_context(open_storage(storage_options_of(settings)))
        bounds = FileBounds(max_file_bytes=settings.session_file_max_bytes)
        options = session_options_of(settings)
        yield await stack.enter_async_context(open_sessions(around, store, storage, options, bounds, ahead=ahead))


@asynccontextmanager
async def _batches(settings: Settings, judge: Judge, sessions: Sessions | str, log: Log) -> AsyncIterator[Batches | str]:
    """They are remembered in the store of the sessions: where there is none, there are no batches either."""
    if isinstance(sessions, str):
        yield sessions
        return
    options = BatchOptions(
        folder=Path(settings.batches_dir),
        parallel=settings.batch_parallel,
        most_bytes=settings.batch_max_bytes,
        most_line_bytes=settings.batch_max_line_bytes,
        most_live_per_owner=settings.batch_max_per_owner,
        keep_s=settings.batch_keep_s,
    )
    async with open_batches(sessions.store, by(judge), judge.datasets(), options, log) as batches:
        yield batches


@asynccontextmanager
async def _judge(settings: Settings, engine: Engine, metrics: Metrics, log: Log, *, warm: bool) -> AsyncIterator[Judge]:
    """Rows are looked for when they are asked for, so that a server that judges nothing pays for nothing."""
    registered = datasets_of(settings)
    if settings.dataset.cpu_runner_url or settings.dataset.gpu_runner_url:
        log.warning("completions are judged here: cpu_runner_url and gpu_runner_url of the configuration file are not used")
    told = JudgeMetrics(metrics, frozenset(dataset.id for dataset in registered))
    loop = Loop(engine, allowance_of(settings), loop_options_of(settings, warm=warm), told, log)
    async with open_rows(row_options_of(settings)) as rows:
        table = functools.partial(registry.table_of, default_table=settings.dataset.default_dataset_table)
        yield Judge(loop, registered, registry.benchmark_classes(), rows, table)


def datasets_of(settings: Settings) -> tuple[Dataset, ...]:
    configured = ((one.class_name, one.tables) for one in settings.dataset.registry)
    return registry.datasets(configured, settings.dataset.default_dataset_table)


def row_options_of(settings: Settings) -> RowOptions:
    cache = settings.dataset.cache
    named = (source.path for source in (cache.sources if cache else ()) if source.kind == "local")
    return RowOptions(
        folders=(settings.tables_dir, *named),
        datalake_url=settings.datalake_address,
        samples=registry.samples_folder() if settings.dataset_samples else None,
        database=store_options_of(settings),
    )


def loop_options_of(settings: Settings, *, warm: bool) -> LoopOptions:
    """warm: whether boxes are forked from interpreters that have modules loaded."""
    return LoopOptions(
        attempts=Attempts(settings.judge_attempts, settings.judge_retry_first_s),
        parallel=settings.dataset.max_runner_concurrency or settings.judge_parallel,
        preset=JUDGE if settings.judge_warm else "",
        given=settings.judge_warm and warm,
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
        allowance=allowance_of(settings),
        python=settings.guest_python,
        policy=Policy(Network(), NOTEBOOK, single_use=True, disk_bytes=settings.disk_limit, disk_files=settings.file_limit),
        ready=settings.notebook_pool_size,
        keep_bytes=settings.output_keep_bytes,
        metrics=metrics,
        log=log,
    )


def _builds(settings: Settings, backend: Backend, metrics: Metrics, log: Log) -> Builds | None:
    return open_builds(
        settings.builds_dir,
        settings.build_cache_bytes,
        settings.build_cache_entry_bytes,
        identity=Identity(settings.guest_python, settings.toolchains_dir),
        workdir=WORKDIR,
        layers=backend.layers(),
        metrics=metrics,
        log=log,
    )


def version() -> str:
    return metadata.version("sandbox-runtime")


def preset_of(settings: Settings) -> tuple[str, tuple[str, ...]]:
    """The name of the preset and the modules it loads."""
    names = settings.preset or (STD,)
    asked = [module for name in names for module in PRESETS.get(name, (name,))]
    modules = tuple(dict.fromkeys((*STANDARD_MODULES, *asked)))
    return (names[0] if len(names) == 1 and names[0] in PRESETS else "custom"), modules


def policies_of(settings: Settings) -> dict[str, Policy]:
    """One for each preset in use. Languages that are not warm take boxes of the plain one."""
    if settings.network_allow and not settings.allow_network:
        raise InvalidRequest("network_allow names addresses but allow_network is off; switch it on or clear network_allow")
    network = Network("nat" if settings.allow_network else "none", settings.network_allow)
    names = (STD, JUDGE, preset_of(settings)[0])
    return {
        name: Policy(network, name, single_use=True, disk_bytes=settings.disk_limit, disk_files=settings.file_limit)
        for name in names
    }


def allowance_of(settings: Settings) -> Allowance:
    default = Limits(
        wall_s=min(settings.timeout_seconds, settings.timeout_ceiling),
        memory_bytes=min(settings.memory_limit * KIB, settings.memory_ceiling),
        processes=settings.process_limit,
        output_bytes=settings.output_limit,
        file_bytes=settings.disk_limit,
        disk_bytes=settings.disk_limit,
        disk_files=settings.file_limit,
        cpu_cores=settings.cpu_quota,
    )
    return Allowance(
        default=default,
        longest_wall_s=settings.timeout_ceiling,
        most_memory_bytes=settings.memory_ceiling,
        max_code_bytes=settings.max_code_bytes,
        max_stdin_bytes=settings.max_stdin_bytes,
        quotas=Quotas(settings.max_files, settings.max_file_bytes, settings.max_request_bytes),
    )


def _floors(settings: Settings, policies: Mapping[str, Policy]) -> dict[Policy, int]:
    """The plain shelf beside another preset, and those of boxes for languages that compile or need toolchains, start empty and
    fill with demand."""
    plain = policies[STD]
    kinds = [
        dataclasses.replace(plain, single_use=single_use, toolchains=toolchains)
        for single_use in (True, False)
        for toolchains in (True, False)
    ]
    return {**dict.fromkeys([*kinds, policies[JUDGE]], 0), policies[preset_of(settings)[0]]: settings.pool_size}


def _watch(metrics: Metrics, pool: BoxPool, admission: Admission) -> None:
    metrics.watch("sandbox_pool_idle", "Boxes that wait ready", lambda: pool.idle)
    metrics.watch("sandbox_pool_busy", "Boxes in use", lambda: pool.in_use)
    metrics.watch("sandbox_queue_length", "Requests that wait for a place", lambda: admission.waiting)
    metrics.watch("sandbox_running", "Requests that have a place", lambda: admission.busy)


def session_options_of(settings: Settings) -> SessionOptions:
    allowance = allowance_of(settings)
    return SessionOptions(
        node=settings.node_name,
        hostname=settings.node_name,
        network="nat" if settings.allow_network else "none",
        template=settings.session_template,
        template_image=settings.session_template_image,
        limits=allowance.default,
        most_memory_bytes=allowance.most_memory_bytes,
        most_disk_bytes=settings.session_disk_ceiling,
        most_cpu_cores=max(settings.cpu_quota, float(os.cpu_count() or 1)),
        most_processes=settings.session_process_ceiling,
        longest_s=settings.timeout_ceiling,
        most_sessions=settings.session_max,
        most_per_owner=settings.session_max_per_owner,
        parallel=settings.session_parallel,
        queue=settings.session_queue,
        contexts=settings.session_contexts,
        forks=settings.session_forks,
        spare_s=settings.session_standby_s,
        linger_s=settings.session_output_linger_s,
        idle_s=settings.session_idle_s or None,
        lifetime_s=settings.session_lifetime_s or None,
        creating_s=settings.session_creating_s,
        cleanup_s=settings.session_cleanup_s,
        heartbeat_s=settings.session_heartbeat_s,
        silent_s=settings.node_silent_s,
        retries=settings.session_retries,
        retry_first_s=settings.session_retry_first_s,
        retry_longest_s=settings.session_retry_longest_s,
        pool=_pool_sizes(settings, settings.warm_pool_size),
        pools={name: _pool_sizes(settings, size) for name, size in pools_of(settings).items()},
        pool_enabled=settings.warm_pool_enabled,
        most_ready=settings.warm_pool_max,
        package_index=settings.session_package_index,
    )


def _pool_sizes(settings: Settings, ephemeral: int) -> PoolSizes:
    return PoolSizes(ephemeral, settings.warm_pool_persistent_size, settings.warm_pool_min_size, settings.warm_pool_max_idle_s)


def pools_of(settings: Settings) -> dict[str, int]:
    """Template → homes kept ready of it."""
    found = {}
    for entry in settings.warm_pool_sizes:
        name, equals, size = entry.rpartition("=")
        if not (name and equals and size.isascii() and size.isdigit() and len(size) < 6):
            raise InvalidRequest(f"warm_pool_sizes: {entry!r} is not of the form template=homes")
        found[name] = int(size)
    return found


def store_options_of(settings: Settings) -> StoreOptions:
    return StoreOptions(settings.database_pool_size, settings.database_pool_overflow, settings.database_pool_recycle_s)


def storage_options_of(settings: Settings) -> StorageOptions:
    if not settings.s3_bucket:
        return StorageOptions(settings.files_dir)
    s3 = S3Options(
        settings.s3_bucket,
        settings.s3_region,
        settings.s3_access_key_id,
        settings.s3_secret_access_key,
        settings.s3_endpoint_url,
        settings.s3_public_endpoint_url,
        settings.s3_prefix,
    )
    return StorageOptions(settings.files_dir, s3)


def _usual(settings: Settings) -> Limits:
    """Limits that boxes wait with; a job that sets others has them set on it when it comes."""
    return allowance_of(settings).default.replace(memory_bytes=settings.memory_ceiling)


def backend_of(settings: Settings) -> Opening:
    return open_backend(settings.isolation, options_of(settings))


def options_of(settings: Settings) -> BackendOptions:
    name, modules = preset_of(settings)
    return BackendOptions(
        guest_python=settings.guest_python,
        state_dir=settings.state_dir,
        toolchains_dir=settings.toolchains_dir,
        presets={
            STD: Preset(STANDARD_MODULES, given=handlers.given()),
            name: Preset(modules, given=handlers.given()),
            NOTEBOOK: Preset((*modules, *NOTEBOOK_MODULES), at_once=False, given=notebook_given()),
            JUDGE: Preset((*modules, *judge_warm.STANDARD), at_once=False, given=(*judge_warm.given(), *integrity.given())),
            CONTEXT: Preset((*modules, *contexts.MODULES), at_once=False, given=contexts.given(), copied=True),
        },
        keep_bytes=settings.output_keep_bytes,
        usual_limits=_usual(settings),
        box_uid_base=settings.box_uid_base,
        nat=NatOptions(dns=settings.network_dns, nameservers=settings.network_nameservers, refuse=settings.network_refuse),
    )
