"""Samples of metrics. What is young is there as it was measured; as it ages it is put together, and in the end it goes.

Each sample is there once: when raw ones are old enough, those of one series and one minute become one of the period 1m and are
deleted, in one transaction; 1m becomes 5m, 5m becomes 1h, 1h becomes 1d in the same way. So whoever reads a session's samples in
the order of time has all of it, the finer the younger.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy.exc import IntegrityError

from sandbox_runtime.model import MetricSample, Period
from sandbox_runtime.model.footprint import merge_samples
from sandbox_runtime.store import mappings
from sandbox_runtime.store.database import Database
from sandbox_runtime.store.files import existing_sessions
from sandbox_runtime.store.footprint_tables import METRICS

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
_BATCH_ROWS = 1000
_NEXT = {
    Period.raw: Period.minute,
    Period.minute: Period.five_minutes,
    Period.five_minutes: Period.hour,
    Period.hour: Period.day,
}
MAX_READ = 10_000


@dataclass(frozen=True, slots=True)
class SamplePolicy:
    """How old samples of a period become before they are put together with others; those of a day go then."""

    keep_ms: dict[Period, int] = field(
        default_factory=lambda: {
            Period.raw: HOUR_MS,
            Period.minute: 6 * HOUR_MS,
            Period.five_minutes: 2 * DAY_MS,
            Period.hour: 30 * DAY_MS,
            Period.day: 365 * DAY_MS,
        }
    )


class Samples:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, samples: Sequence[MetricSample]) -> None:
        """Those of sessions that are gone are passed over."""
        if not samples:
            return
        try:
            await self._database.write(lambda connection: _add(connection, samples))
        except IntegrityError:
            # A session was deleted in between; now it can be seen that it is gone.
            await self._database.write(lambda connection: _add(connection, samples))

    async def list(
        self, session: str, *, name: str | None = None, since_ms: int = 0, limit: int = MAX_READ
    ) -> tuple[MetricSample, ...]:
        """The newest, in the order of time."""
        column = METRICS.c
        where = [column.f_session_id == session, column.f_timestamp >= since_ms]
        if name is not None:
            where.append(column.f_metric_name == name)
        query = (
            select(*mappings.SAMPLE.columns).where(*where).order_by(column.f_timestamp.desc(), column.f_id.desc()).limit(limit)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return tuple(mappings.SAMPLE.to_model(row) for row in reversed(rows))

    async def compact(self, now_ms: int, policy: SamplePolicy | None = None, max_steps: int = 50) -> int:
        """Puts together what is old, and deletes what is oldest. Bounded; returns how many rows went."""
        gone, keep_ms = 0, (policy or SamplePolicy()).keep_ms
        for period in Period:
            before_ms, count = now_ms - keep_ms[period], _BATCH_ROWS
            while count == _BATCH_ROWS and max_steps > 0:
                count = await self._database.write(partial(_compact, period=period, before_ms=before_ms))
                gone, max_steps = gone + count, max_steps - 1
        return gone


def aggregate(samples: Sequence[MetricSample], period: Period) -> list[MetricSample]:
    """Samples of that period, from finer ones; coarser ones stay as they are. Pure."""
    found: dict[tuple[Any, ...], MetricSample] = {}
    for sample in samples:
        one = _align(sample, period) if sample.period.ms < period.ms else sample
        key = _series(one)
        found[key] = merge_samples(found[key], one) if key in found else one
    return sorted(found.values(), key=lambda one: one.at_ms)


def _align(sample: MetricSample, period: Period) -> MetricSample:
    return replace(sample, period=period, at_ms=sample.at_ms - sample.at_ms % period.ms)


def _series(sample: MetricSample) -> tuple[Any, ...]:
    labels = json.dumps(dict(sample.labels), sort_keys=True)
    return sample.session, sample.name, labels, sample.period, sample.at_ms


def _add(connection: Connection, samples: Sequence[MetricSample]) -> None:
    known = existing_sessions(connection, {sample.session for sample in samples})
    rows = [mappings.SAMPLE.to_row(sample) for sample in samples if sample.session in known]
    if rows:
        connection.execute(mappings.SAMPLE.insert, rows).close()


def _compact(connection: Connection, *, period: Period, before_ms: int) -> int:
    old = (METRICS.c.f_aggregation_period == period, METRICS.c.f_timestamp < before_ms)
    query = select(METRICS.c.f_id, *mappings.SAMPLE.columns).where(*old).order_by(METRICS.c.f_timestamp).limit(_BATCH_ROWS)
    rows = connection.execute(query).all()
    if rows and period in _NEXT:
        _merge_into(connection, aggregate([mappings.SAMPLE.to_model(row[1:]) for row in rows], _NEXT[period]))
    if rows:
        connection.execute(delete(METRICS).where(METRICS.c.f_id.in_([row[0] for row in rows]))).close()
    return len(rows)


def _merge_into(connection: Connection, samples: Sequence[MetricSample]) -> None:
    """Where there is one of that time already, the two become one."""
    for sample in samples:
        at = (
            METRICS.c.f_session_id == sample.session,
            METRICS.c.f_timestamp == sample.at_ms,
            METRICS.c.f_metric_name == sample.name,
            METRICS.c.f_aggregation_period == sample.period,
        )
        rows = connection.execute(select(METRICS.c.f_id, *mappings.SAMPLE.columns).where(*at)).all()
        there = {row[0]: mappings.SAMPLE.to_model(row[1:]) for row in rows}
        same = next((key for key, one in there.items() if dict(one.labels) == dict(sample.labels)), None)
        if same is not None:
            sample = merge_samples(there[same], sample)
            connection.execute(delete(METRICS).where(METRICS.c.f_id == same)).close()
        connection.execute(mappings.SAMPLE.insert, mappings.SAMPLE.to_row(sample)).close()
