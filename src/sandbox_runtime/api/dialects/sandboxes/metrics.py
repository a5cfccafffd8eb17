"""Collect the metrics of a sandbox: sums over its executions, and time series."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.api.dialects.sandboxes.mapping.answers import state_of, to_timestamp
from sandbox_runtime.api.dialects.sandboxes.responses import now
from sandbox_runtime.api.dialects.sandboxes.schemas.version2 import MetricPoint, MetricSeries, SandboxMetrics, SandboxUsage
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import Execution, MetricSample, Period, Session, SessionState
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import ExecutionFilter, aggregate

MAX_EXECUTIONS = 1000
_PAGE_SIZE = 200
_MAX_FILES = 10_000


@dataclass(frozen=True, slots=True)
class SeriesQuery:
    """Which time series to return."""

    name: str | None = None
    """None: all metrics."""
    period: Period = Period.raw
    seconds: float | None = None
    """Only samples of the last seconds; None: all that are stored."""


async def collect_metrics(sessions: Sessions, sandbox_id: str, owner: str, query: SeriesQuery) -> SandboxMetrics:
    session = await sessions.get(sandbox_id, owner)
    executions, complete = await _load_executions(sessions, sandbox_id, owner)
    metered = [execution.metering for execution in executions if execution.metering is not None]
    ended_ms = session.completed_ms or timestamps.now_ms()
    return SandboxMetrics(
        sandbox_id=session.id,
        state=state_of(session, busy=sessions.is_busy(session.id)),
        uptime_seconds=max(0.0, (ended_ms - session.created_ms) / 1000),
        executions=dict(Counter(str(execution.state) for execution in executions)),
        complete=complete,
        cpu_usage_seconds=round(sum(metering.cpu_time_ms or 0.0 for metering in metered) / 1000, 6),
        execution_seconds=round(sum(metering.duration_ms for metering in metered) / 1000, 6),
        memory_peak_bytes=int(max((metering.peak_memory_mb or 0.0 for metering in metered), default=0.0) * MIB),
        memory_limit_bytes=session.resources.memory_bytes,
        disk_usage_bytes=await _disk_bytes(sessions, session, owner),
        disk_limit_bytes=session.resources.disk_bytes,
        usage=await _load_usage(sessions, sandbox_id, owner),
        series=await _load_series(sessions, sandbox_id, owner, query),
        timestamp=now(),
    )


async def _load_usage(sessions: Sessions, sandbox_id: str, owner: str) -> SandboxUsage:
    usage = await sessions.monitor.usage(sandbox_id, owner)
    return SandboxUsage(
        cpu_usage_seconds=usage.cpu_s,
        memory_usage_bytes=usage.memory_bytes,
        disk_usage_bytes=usage.disk_bytes,
        network_rx_bytes=usage.network_rx_bytes,
        network_tx_bytes=usage.network_tx_bytes,
        last_resource_update=None if usage.updated_ms is None else to_timestamp(usage.updated_ms),
    )


async def _load_series(sessions: Sessions, sandbox_id: str, owner: str, query: SeriesQuery) -> list[MetricSeries]:
    since_ms = 0 if query.seconds is None else int((time.time() - query.seconds) * 1000)
    stored = await sessions.monitor.samples(sandbox_id, owner, name=query.name, since_ms=since_ms)
    series: dict[tuple[str, tuple[tuple[str, str], ...]], list[MetricSample]] = {}
    for sample in aggregate(stored, query.period):
        series.setdefault((sample.name, tuple(sorted(sample.labels.items()))), []).append(sample)
    return [
        MetricSeries(
            metric_name=name,
            metric_type=samples[0].kind.value,
            labels=dict(labels),
            points=[_to_point(sample) for sample in samples],
        )
        for (name, labels), samples in sorted(series.items())
    ]


def _to_point(sample: MetricSample) -> MetricPoint:
    return MetricPoint(
        timestamp=to_timestamp(sample.at_ms),
        value=sample.value,
        count=sample.count,
        min=sample.minimum,
        max=sample.maximum,
        aggregation_period=sample.period.value,
    )


async def _load_executions(sessions: Sessions, sandbox_id: str, owner: str) -> tuple[list[Execution], bool]:
    """Return the newest executions, and whether they are all."""
    loaded: list[Execution] = []
    while len(loaded) < MAX_EXECUTIONS:
        page = await sessions.executions.list(ExecutionFilter(session=sandbox_id), _PAGE_SIZE, len(loaded), owner)
        loaded += page.items
        if not page.items or not page.has_more:
            return loaded, True
    return loaded, False


async def _disk_bytes(sessions: Sessions, session: Session, owner: str) -> int | None:
    """Return the size of all files, or None if they cannot be accessed or are too many to count."""
    if session.state is not SessionState.running:
        return None
    with contextlib.suppress(SandboxError):
        listing = await (await sessions.files.open(session.id, owner)).list("", recursive=True, limit=_MAX_FILES)
        return None if listing.truncated else sum(entry.size_bytes for entry in listing.entries)
    return None
