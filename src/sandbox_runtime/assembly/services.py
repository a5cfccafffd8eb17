"""Opens what outlives a request: sessions, the judge, batches."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from sandbox_runtime.assembly.box_config import (
    build_request_limits,
)
from sandbox_runtime.assembly.options import (
    build_batch_options,
    build_datasets,
    build_loop_options,
    build_row_options,
    build_session_options,
    build_storage_options,
    build_store_options,
)
from sandbox_runtime.assembly.storage import observe_database
from sandbox_runtime.benchmarks import registry
from sandbox_runtime.engine import (
    Engine,
)
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.judge.batches import Batches, make_line_judge, open_batches
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.judge.judge_loop import Loop
from sandbox_runtime.judge.rows import open_rows
from sandbox_runtime.judge.text_workers import TextWorkers
from sandbox_runtime.sessions import PlatformParts, Sessions, lock_node, open_sessions
from sandbox_runtime.settings import Settings
from sandbox_runtime.store import open_store
from sandbox_runtime.telemetry import JudgeMetrics, Log, Metrics
from sandbox_runtime.workspace.ledger import Ledger
from sandbox_runtime.workspace.session_files import FileBounds
from sandbox_runtime.workspace.storage import open_storage


@asynccontextmanager
async def open_configured_sessions(
    settings: Settings, parts: PlatformParts, *, enabled: bool, prewarm: bool
) -> AsyncIterator[Sessions | str]:
    """Yield the sessions, or the reason why they are not available. A node that another server holds does not stop the start."""
    if not enabled:
        yield "this process was started without sessions"
        return
    async with AsyncExitStack() as stack:
        try:
            stack.enter_context(lock_node(settings.data_dir, settings.node_name))
        except Unavailable as error:
            parts.log.warning("there are no sessions here", reason=str(error))
            yield str(error)
            return
        store = await stack.enter_async_context(open_store(settings.store_url, build_store_options(settings)))
        observe_database(parts.ledger, settings.store_url)
        storage = await stack.enter_async_context(open_storage(build_storage_options(settings)))
        bounds = FileBounds(max_file_bytes=settings.session_file_max_bytes)
        options = build_session_options(settings)
        yield await stack.enter_async_context(open_sessions(parts, store, storage, options, bounds, warm=prewarm))


@asynccontextmanager
async def open_judge(settings: Settings, engine: Engine, metrics: Metrics, log: Log, *, warm: bool) -> AsyncIterator[Judge]:
    """Yield the judge. Rows are loaded on demand, so that a server that judges nothing pays nothing."""
    registered = build_datasets(settings)
    if settings.dataset.cpu_runner_url or settings.dataset.gpu_runner_url:
        log.warning("completions are judged here: cpu_runner_url and gpu_runner_url of the configuration file are not used")
    judge_metrics = JudgeMetrics(metrics, frozenset(dataset.id for dataset in registered))
    loop = Loop(engine, build_request_limits(settings), build_loop_options(settings, warm=warm), judge_metrics, log)
    async with open_rows(build_row_options(settings)) as rows, TextWorkers() as workers:
        table = functools.partial(registry.table_of, default_table=settings.dataset.default_dataset_table)
        yield Judge(loop, registered, registry.benchmark_classes(), rows, table, workers, settings.max_completion_bytes)


@asynccontextmanager
async def open_configured_batches(
    settings: Settings, judge: Judge, sessions: Sessions | str, log: Log, ledger: Ledger
) -> AsyncIterator[Batches | str]:
    """Yield the batches, or the reason why they are not available. They are stored with the sessions and need them."""
    if isinstance(sessions, str):
        yield sessions
        return
    async with open_batches(
        sessions.store, make_line_judge(judge), judge.datasets(), build_batch_options(settings), log, ledger
    ) as batches:
        yield batches
