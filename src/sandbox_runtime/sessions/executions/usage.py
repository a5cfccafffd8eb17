"""Usage of sessions, recorded in memory and written to the store in the background.

Recorded are the resources that executions used and the files that were uploaded, read and deleted. Recording never waits: a task
writes what was recorded every few seconds, summed up by session, and once more at shutdown. Memory is bounded; figures over the
bound are dropped and counted, because a sandbox must not wait for bookkeeping. A server that is killed loses only the figures of
the last few seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import mimetypes
import os
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox_runtime import timestamps
from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.model import Execution, FileRecord, MetricKind, MetricSample, SessionUsage
from sandbox_runtime.model.footprint import new_sample
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions.registry import SessionRegistry
from sandbox_runtime.store import FileDeleted, FileRead, Store
from sandbox_runtime.store.files import MAX_VERSIONS
from sandbox_runtime.telemetry import Log
from sandbox_runtime.workspace.listing import Entry

WRITE_EVERY_S = 5.0
MAX_SERIES, MAX_FILES = 20_000, 10_000
_BATCH = 100
"""Records in one transaction: others wait for it."""
_WORKSPACE = "/workspace"
_FINAL_WRITE_S = 10.0


Series = tuple[str, str, MetricKind, str, str]
"""Session, metric name and kind; for executions also their kind and state."""


@dataclass(slots=True)
class SeriesTotal:
    """Sum, count and extremes of one series since the last write."""

    count: int
    total: float
    minimum: float
    maximum: float

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        if value < self.minimum:
            self.minimum = value
        if value > self.maximum:
            self.maximum = value


class UsageRecorder:
    """As a context manager it writes periodically and at exit."""

    def __init__(self, store: Store, registry: SessionRegistry, log: Log, every_s: float = WRITE_EVERY_S) -> None:
        self._store = store
        self._registry = registry
        self._log = log
        self._every_s = every_s
        self._series: dict[Series, SeriesTotal] = {}
        self._files: list[FileRecord | FileDeleted] = []
        self._waiting: dict[tuple[str, str], list[int]] = {}
        """Indexes of a path's changes in `_files`."""
        self._reads: dict[tuple[str, str], FileRead] = {}
        self._write_lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.dropped = 0
        """Records that exceeded the bound or that the store refused."""

    async def __aenter__(self) -> UsageRecorder:
        self._task = asyncio.create_task(self._write_periodically())
        return self

    async def __aexit__(self, *_error: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FINAL_WRITE_S):
                await self.write()

    def record_execution(self, execution: Execution) -> None:
        """Record an execution that has ended."""
        session, used = execution.session, execution.metering
        self._add((session, "executions_total", MetricKind.counter, execution.kind, execution.state), 1.0)
        if used is None:
            return
        self._add((session, "execution_seconds", MetricKind.histogram, "", ""), used.duration_ms / 1000)
        if used.cpu_time_ms is not None:
            self._add((session, "cpu_usage_seconds", MetricKind.counter, "", ""), used.cpu_time_ms / 1000)
        if used.peak_memory_mb is not None:
            self._add((session, "memory_usage_bytes", MetricKind.gauge, "", ""), used.peak_memory_mb * MIB)

    def file_recorder(self, session: str) -> FileRecorder:
        return FileRecorder(self, session)

    def record_file(self, change: FileRecord | FileDeleted) -> None:
        """Record a change. Of a path that is written often only the last versions wait: the store keeps no more."""
        key = (change.session, change.path)
        waiting = self._waiting.setdefault(key, [])
        if isinstance(change, FileRecord) and len(waiting) >= MAX_VERSIONS:
            self._files[waiting[-1]] = change
        elif len(self._files) < MAX_FILES:
            waiting.append(len(self._files))
            self._files.append(change)
        else:
            self.dropped += 1

    def record_read(self, session: str, path: str) -> None:
        """Count a read. All reads of a file become one record."""
        reads = self._reads.get((session, path))
        if reads is None and len(self._reads) >= MAX_FILES:
            self.dropped += 1
            return
        self._reads[session, path] = FileRead(session, path, timestamps.now_ms(), 1 if reads is None else reads.times + 1)

    async def write(self) -> None:
        """Write everything recorded so far; what the store refuses is counted as dropped."""
        async with self._write_lock:
            recorded, self._series = self._series, {}
            files = [*self._files, *self._reads.values()]
            self._files, self._waiting, self._reads = [], {}, {}
            for start in range(0, len(files), _BATCH):
                batch = files[start : start + _BATCH]
                await self._try_write(self._store.files.record(batch), len(batch))
            if recorded:
                samples = [_to_sample(series, total) for series, total in recorded.items()]
                samples = [*samples, *self._disk_samples({series[0] for series in recorded})]
                await self._try_write(self._store.samples.add(samples), len(samples))
                await self._try_write(self._store.sessions.add_usage(_usage_by_session(samples)), 0)

    async def _write_periodically(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            try:
                await self.write()
            except Exception:
                self._log.exception("figures of sessions could not be written, in an unforeseen way")

    async def _try_write(self, writing: object, count: int) -> None:
        try:
            await writing  # type: ignore[misc]
        except SandboxError as error:
            self.dropped += count
            self._log.warning("figures of sessions could not be written", count=count, reason=str(error))

    def _add(self, series: Series, value: float) -> None:
        """Called for every execution, so it allocates only for a new series."""
        total = self._series.get(series)
        if total is not None:
            total.add(value)
        elif len(self._series) < MAX_SERIES:
            self._series[series] = SeriesTotal(1, value, value, value)
        else:
            self.dropped += 1

    def _disk_samples(self, sessions: set[str]) -> list[MetricSample]:
        """Return the disk use of open sessions."""
        samples = []
        for session in sessions:
            live = self._registry.open.get(session)
            if live is None or live.environment.closed:
                continue
            with contextlib.suppress(OSError, SandboxError):
                area = os.fstatvfs(live.environment.files.files_fd)
                used = (area.f_blocks - area.f_bfree) * area.f_frsize
                samples.append(new_sample(session, "disk_usage_bytes", MetricKind.gauge, float(used), timestamps.now_ms()))
        return samples


class FileRecorder:
    """Records changes and reads of one session's files."""

    def __init__(self, recorder: UsageRecorder, session: str) -> None:
        self._recorder = recorder
        self._session = session

    def on_write(self, name: str, entry: Entry, checksum: str) -> None:
        """A path that is too long to be recorded is skipped; the file exists all the same."""
        with contextlib.suppress(InvalidRequest):
            self._recorder.record_file(
                FileRecord(
                    session=self._session,
                    path=absolute_path(name),
                    checksum=f"sha256:{checksum}",
                    size_bytes=entry.size_bytes,
                    media_type=mimetypes.guess_type(name)[0] or "application/octet-stream",
                    etag=entry.etag,
                    created_ms=timestamps.now_ms(),
                )
            )

    def on_read(self, name: str) -> None:
        self._recorder.record_read(self._session, absolute_path(name))

    def on_delete(self, name: str) -> None:
        self._recorder.record_file(FileDeleted(self._session, absolute_path(name), timestamps.now_ms()))


def absolute_path(name: str) -> str:
    """Return the path as programs see it."""
    return posixpath.normpath(posixpath.join(_WORKSPACE, name))


def _to_sample(series: Series, total: SeriesTotal) -> MetricSample:
    session, name, kind, execution_kind, state = series
    return MetricSample(
        session=session,
        name=name,
        kind=kind,
        value=total.total if kind is MetricKind.counter else total.total / total.count,
        at_ms=timestamps.now_ms(),
        labels={"kind": str(execution_kind), "state": str(state)} if state else {},
        count=total.count,
        minimum=total.minimum,
        maximum=total.maximum,
    )


def _usage_by_session(samples: list[MetricSample]) -> Mapping[str, SessionUsage]:
    values: dict[str, dict[str, float]] = {}
    for sample in samples:
        value = sample.value if sample.kind is MetricKind.counter else sample.maximum
        values.setdefault(sample.session, {})[sample.name] = value
    return {session: _to_usage(figures) for session, figures in values.items()}


def _to_usage(figures: Mapping[str, float]) -> SessionUsage:
    memory, disk = figures.get("memory_usage_bytes"), figures.get("disk_usage_bytes")
    return SessionUsage(
        cpu_s=figures.get("cpu_usage_seconds"),
        memory_bytes=None if memory is None else int(memory),
        disk_bytes=None if disk is None else int(disk),
        updated_ms=timestamps.now_ms(),
    )
