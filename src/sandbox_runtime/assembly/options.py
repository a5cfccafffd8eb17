"""Translates settings into the options of sessions, the store, the file storage, datasets and batches."""

from __future__ import annotations

import os
from pathlib import Path

from sandbox_runtime.assembly.box_config import (
    JUDGE,
    build_request_limits,
)
from sandbox_runtime.benchmarks import registry
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.attempts import Attempts
from sandbox_runtime.judge.batches import BatchOptions
from sandbox_runtime.judge.judge_loop import LoopOptions
from sandbox_runtime.judge.rows import RowOptions
from sandbox_runtime.model import Dataset, PoolSizes
from sandbox_runtime.sessions import SessionOptions
from sandbox_runtime.settings import Settings
from sandbox_runtime.store import StoreOptions
from sandbox_runtime.workspace.storage import S3Options, StorageOptions


def build_session_options(settings: Settings) -> SessionOptions:
    request_limits = build_request_limits(settings)
    return SessionOptions(
        node=settings.node_name,
        hostname=settings.node_name,
        network="nat" if settings.allow_network else "none",
        template=settings.session_template,
        template_image=settings.session_template_image,
        limits=request_limits.default,
        max_memory_bytes=request_limits.max_memory_bytes,
        max_disk_bytes=settings.session_disk_ceiling,
        max_cpu_cores=max(settings.cpu_quota, float(os.cpu_count() or 1)),
        max_processes=settings.session_process_ceiling,
        max_execution_s=settings.timeout_ceiling,
        max_sessions=settings.session_max,
        max_per_owner=settings.session_max_per_owner,
        max_parallel=settings.session_parallel,
        max_queue=settings.session_queue,
        max_contexts=settings.session_contexts,
        max_forks=settings.session_forks,
        fork_pool_idle_s=settings.session_standby_s,
        output_linger_s=settings.session_output_linger_s,
        idle_s=settings.session_idle_s or None,
        lifetime_s=settings.session_lifetime_s or None,
        create_timeout_s=settings.session_creating_s,
        sweep_every_s=settings.session_cleanup_s,
        heartbeat_every_s=settings.session_heartbeat_s,
        node_timeout_s=settings.node_silent_s,
        retries=settings.session_retries,
        retry_first_s=settings.session_retry_first_s,
        retry_max_s=settings.session_retry_longest_s,
        pool=_pool_sizes(settings, settings.warm_pool_size),
        pools={name: _pool_sizes(settings, size) for name, size in parse_pool_sizes(settings).items()},
        pool_enabled=settings.warm_pool_enabled,
        max_ready=settings.warm_pool_max,
        package_index=settings.session_package_index,
    )


def _pool_sizes(settings: Settings, ephemeral: int) -> PoolSizes:
    return PoolSizes(ephemeral, settings.warm_pool_persistent_size, settings.warm_pool_min_size, settings.warm_pool_max_idle_s)


def parse_pool_sizes(settings: Settings) -> dict[str, int]:
    """Parse warm_pool_sizes: template → number of environments kept ready."""
    sizes = {}
    for entry in settings.warm_pool_sizes:
        name, equals, size = entry.rpartition("=")
        if not (name and equals and size.isascii() and size.isdigit() and len(size) < 6):
            raise InvalidRequest(f"warm_pool_sizes: {entry!r} is not of the form template=number, such as python-basic=10")
        sizes[name] = int(size)
    return sizes


def build_store_options(settings: Settings) -> StoreOptions:
    return StoreOptions(settings.database_pool_size, settings.database_pool_overflow, settings.database_pool_recycle_s)


def build_storage_options(settings: Settings) -> StorageOptions:
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


def build_datasets(settings: Settings) -> tuple[Dataset, ...]:
    configured = ((one.class_name, one.tables) for one in settings.dataset.registry)
    return registry.datasets(configured, settings.dataset.default_dataset_table)


def build_row_options(settings: Settings) -> RowOptions:
    cache = settings.dataset.cache
    named = (source.path for source in (cache.sources if cache else ()) if source.kind == "local")
    return RowOptions(
        folders=(settings.tables_dir, *named),
        datalake_url=settings.effective_datalake_url,
        samples=registry.samples_folder() if settings.dataset_samples else None,
        database=build_store_options(settings),
    )


def build_loop_options(settings: Settings, *, warm: bool) -> LoopOptions:
    """Return the options of the judge. `warm`: boxes are forked from interpreters with modules loaded."""
    return LoopOptions(
        attempts=Attempts(settings.judge_attempts, settings.judge_retry_first_s),
        parallel=settings.dataset.max_runner_concurrency or settings.judge_parallel,
        preset=JUDGE if settings.judge_warm else "",
        harness_preloaded=settings.judge_warm and warm,
    )


def build_batch_options(settings: Settings) -> BatchOptions:
    return BatchOptions(
        folder=Path(settings.batches_dir),
        parallel=settings.batch_parallel,
        max_bytes=settings.batch_max_bytes,
        max_line_bytes=settings.batch_max_line_bytes,
        max_live_per_owner=settings.batch_max_per_owner,
        keep_s=settings.batch_keep_s,
    )
