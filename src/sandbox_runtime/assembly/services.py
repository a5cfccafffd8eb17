"""What outlives a request: sessions, the judge, batches."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from sandbox_runtime.assembly.box_config import (
    allowance_of,
)
from sandbox_runtime.assembly.options import (
    batch_options_of,
    datasets_of,
    loop_options_of,
    row_options_of,
    session_options_of,
    storage_options_of,
    store_options_of,
)
from sandbox_runtime.assembly.storage import watch_database
from sandbox_runtime.benchmarks import registry
from sandbox_runtime.engine import (
    Engine,
)
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.judge.batches import Batches, make_line_judge, open_batches
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.judge.loop import Loop
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
async def sessions_opened(
    settings: Settings, around: PlatformParts, *, wanted: bool, ahead: bool
) -> AsyncIterator[Sessions | str]:
    """A node that another server has is no reason for this one not to do the rest."""
    if not wanted:
        yield "this process was started without sessions"
        return
    async with AsyncExitStack() as stack:
        try:
            stack.enter_context(lock_node(settings.data_dir, settings.node_name))
        except Unavailable as error:
            around.log.warning("there are no sessions here", reason=str(error))
            yield str(error)
            return
        store = await stack.enter_async_context(open_store(settings.store_url, store_options_of(settings)))
        watch_database(around.ledger, settings.store_url)
        storage = await stack.enter_async_context(open_storage(storage_options_of(settings)))
        bounds = FileBounds(max_file_bytes=settings.session_file_max_bytes)
        options = session_options_of(settings)
        yield await stack.enter_async_context(open_sessions(around, store, storage, options, bounds, warm=ahead))


@asynccontextmanager
async def judge_opened(settings: Settings, engine: Engine, metrics: Metrics, log: Log, *, warm: bool) -> AsyncIterator[Judge]:
    """Rows are looked for when they are asked for, so that a server that judges nothing pays for nothing."""
    registered = datasets_of(settings)
    if settings.dataset.cpu_runner_url or settings.dataset.gpu_runner_url:
        log.warning("completions are judged here: cpu_runner_url and gpu_runner_url of the configuration file are not used")
    told = JudgeMetrics(metrics, frozenset(dataset.id for dataset in registered))
    loop = Loop(engine, allowance_of(settings), loop_options_of(settings, warm=warm), told, log)
    async with open_rows(row_options_of(settings)) as rows, TextWorkers() as workers:
        table = functools.partial(registry.table_of, default_table=settings.dataset.default_dataset_table)
        yield Judge(loop, registered, registry.benchmark_classes(), rows, table, workers, settings.max_completion_bytes)


@asynccontextmanager
async def batches_opened(
    settings: Settings, judge: Judge, sessions: Sessions | str, log: Log, ledger: Ledger
) -> AsyncIterator[Batches | str]:
    """They are remembered in the store of the sessions: where there is none, there are no batches either."""
    if isinstance(sessions, str):
        yield sessions
        return
    async with open_batches(
        sessions.store, make_line_judge(judge), judge.datasets(), batch_options_of(settings), log, ledger
    ) as batches:
        yield batches
