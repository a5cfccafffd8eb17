"""What a sandbox used, added up from its executions, and what was measured over time."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.api.dialects.sandboxes.mapping import answers
from sandbox_runtime.api.dialects.sandboxes.responses import now
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import Execution, MetricSample, Period, Session, SessionState
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import ExecutionFilter, aggregate

MOST_ADDED_UP = 1000
_AT_ONCE = 200
_MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """Of the series: None is all of them, and all the time that is remembered."""

    name: str | None = None
    period: Period = Period.raw
    seconds: float | None = None


async def metrics(sessions: Sessions, sandbox_id: str, owner: str, wanted: Wanted) -> schemas.SandboxMetrics:
    session = await sessions.get(sandbox_id, owner)
    executions, complete = await _executions(sessions, sandbox_id, owner)
    used = [one.metering for one in executions if one.metering is not None]
    ended_ms = session.completed_ms or timestamps.now_ms()
    return schemas.SandboxMetrics(
        sandbox_id=session.id,
        state=answers.state_of(session, at_work=sessions.is_busy(session.id)),
        uptime_seconds=max(0.0, (ended_ms - session.created_ms) / 1000),
        executions=dict(Counter(str(one.state) for one in executions)),
        complete=complete,
        cpu_usage_seconds=round(sum(one.cpu_time_ms or 0.0 for one in used) / 1000, 6),
        execution_seconds=round(sum(one.duration_ms for one in used) / 1000, 6),
        memory_peak_bytes=int(max((one.peak_memory_mb or 0.0 for one in used), default=0.0) * MIB),
        memory_limit_bytes=session.resources.memory_bytes,
        disk_usage_bytes=await _disk_bytes(sessions, session, owner),
        disk_limit_bytes=session.resources.disk_bytes,
        usage=await _usage(sessions, sandbox_id, owner),
        series=await _series(sessions, sandbox_id, owner, wanted),
        timestamp=now(),
    )


async def _usage(sessions: Sessions, sandbox_id: str, owner: str) -> schemas.ResourceUsage:
    used = await sessions.monitor.usage(sandbox_id, owner)
    return schemas.ResourceUsage(
        cpu_usage_seconds=used.cpu_s,
        memory_usage_bytes=used.memory_bytes,
        disk_usage_bytes=used.disk_bytes,
        network_rx_bytes=used.network_rx_bytes,
        network_tx_bytes=used.network_tx_bytes,
        last_resource_update=None if used.updated_ms is None else answers.moment(used.updated_ms),
    )


async def _series(sessions: Sessions, sandbox_id: str, owner: str, wanted: Wanted) -> list[schemas.MetricSeries]:
    since_ms = 0 if wanted.seconds is None else int((time.time() - wanted.seconds) * 1000)
    found = await sessions.monitor.samples(sandbox_id, owner, name=wanted.name, since_ms=since_ms)
    series: dict[tuple[str, tuple[tuple[str, str], ...]], list[MetricSample]] = {}
    for sample in aggregate(found, wanted.period):
        series.setdefault((sample.name, tuple(sorted(sample.labels.items()))), []).append(sample)
    return [
        schemas.MetricSeries(
            metric_name=name, metric_type=some[0].kind.value, labels=dict(labels), points=[_point(one) for one in some]
        )
        for (name, labels), some in sorted(series.items())
    ]


def _point(sample: MetricSample) -> schemas.MetricPoint:
    return schemas.MetricPoint(
        timestamp=answers.moment(sample.at_ms),
        value=sample.value,
        count=sample.count,
        min=sample.minimum,
        max=sample.maximum,
        aggregation_period=sample.period.value,
    )


async def _executions(sessions: Sessions, sandbox_id: str, owner: str) -> tuple[list[Execution], bool]:
    """The newest, and whether these are all."""
    found: list[Execution] = []
    while len(found) < MOST_ADDED_UP:
        page = await sessions.executions.list(ExecutionFilter(session=sandbox_id), _AT_ONCE, len(found), owner)
        found += page.items
        if not page.items or not page.has_more:
            return found, True
    return found, False


async def _disk_bytes(sessions: Sessions, session: Session, owner: str) -> int | None:
    """None where its files are not at hand, or are more than can be counted now."""
    if session.state is not SessionState.running:
        return None
    with contextlib.suppress(SandboxError):
        listing = await (await sessions.files.open(session.id, owner)).list("", recursive=True, limit=_MOST_FILES)
        return None if listing.truncated else sum(entry.size_bytes for entry in listing.entries)
    return None
