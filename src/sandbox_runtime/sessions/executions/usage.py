"""Figures of sessions on their way into the store: what executions used, and which files came in, went out and were deleted.

Nobody waits for them. Whoever has something to note puts it into memory; a task of its own writes what has gathered every few
seconds, put together by session, and once more at the end. What gathers is bounded: figures that find no room are counted and
left out, for a sandbox must not wait for its bookkeeping. A server that is killed loses the last few seconds of them, and
nothing else.
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
from sandbox_runtime.model.footprint import observed
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions.registry import Directory
from sandbox_runtime.store import FileDeleted, FileRead, Store
from sandbox_runtime.store.files import MAX_VERSIONS
from sandbox_runtime.telemetry import Log
from sandbox_runtime.workspace.listing import Entry

WRITE_EVERY_S = 5.0
MOST_SERIES, MOST_FILES = 20_000, 10_000
_AT_ONCE = 100
"""In one transaction: others wait for it."""
_WORKSPACE = "/workspace"
_LAST_WITHIN_S = 10.0


Series = tuple[str, str, MetricKind, str, str]
"""Session, name, kind of figure; of executions, their kind and state."""


@dataclass(slots=True)
class Sum:
    """What has gathered of one series."""

    count: int
    total: float
    least: float
    most: float

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        if value < self.least:
            self.least = value
        if value > self.most:
            self.most = value


class Recorder:
    """As a context it writes regularly, and what is left at its end."""

    def __init__(self, store: Store, directory: Directory, log: Log, every_s: float = WRITE_EVERY_S) -> None:
        self._store = store
        self._directory = directory
        self._log = log
        self._every_s = every_s
        self._gathered: dict[Series, Sum] = {}
        self._files: list[FileRecord | FileDeleted] = []
        self._waiting: dict[tuple[str, str], list[int]] = {}
        """Where the changes of a path stand among those of all files."""
        self._reads: dict[tuple[str, str], FileRead] = {}
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.left_out = 0
        """Figures for which there was no room, or that the store would not take."""

    async def __aenter__(self) -> Recorder:
        self._task = asyncio.create_task(self._regularly())
        return self

    async def __aexit__(self, *_error: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WITHIN_S):
                await self.write()

    def executed(self, execution: Execution) -> None:
        """One that has ended."""
        session, used = execution.session, execution.metering
        self._measure((session, "executions_total", MetricKind.counter, execution.kind, execution.state), 1.0)
        if used is None:
            return
        self._measure((session, "execution_seconds", MetricKind.histogram, "", ""), used.duration_ms / 1000)
        if used.cpu_time_ms is not None:
            self._measure((session, "cpu_usage_seconds", MetricKind.counter, "", ""), used.cpu_time_ms / 1000)
        if used.peak_memory_mb is not None:
            self._measure((session, "memory_usage_bytes", MetricKind.gauge, "", ""), used.peak_memory_mb * MIB)

    def notes_of(self, session: str) -> FileNotes:
        return FileNotes(self, session)

    def file(self, change: FileRecord | FileDeleted) -> None:
        """Of a path that is written all the time, the last versions count: no more of them are kept anyway."""
        key = (change.session, change.path)
        waiting = self._waiting.setdefault(key, [])
        if isinstance(change, FileRecord) and len(waiting) >= MAX_VERSIONS:
            self._files[waiting[-1]] = change
        elif len(self._files) < MOST_FILES:
            waiting.append(len(self._files))
            self._files.append(change)
        else:
            self.left_out += 1

    def read(self, session: str, path: str) -> None:
        """Counted together: whoever reads a file a thousand times is one line."""
        known = self._reads.get((session, path))
        if known is None and len(self._reads) >= MOST_FILES:
            self.left_out += 1
            return
        self._reads[session, path] = FileRead(session, path, timestamps.now_ms(), 1 if known is None else known.times + 1)

    async def write(self) -> None:
        """What has gathered so far is in the store afterwards, or has been told as left out."""
        async with self._turn:
            gathered, self._gathered = self._gathered, {}
            files = [*self._files, *self._reads.values()]
            self._files, self._waiting, self._reads = [], {}, {}
            for start in range(0, len(files), _AT_ONCE):
                some = files[start : start + _AT_ONCE]
                await self._tried(self._store.files.record(some), len(some))
            if gathered:
                samples = [_sample(series, figures) for series, figures in gathered.items()]
                found = [*samples, *self._disks({series[0] for series in gathered})]
                await self._tried(self._store.samples.add(found), len(found))
                await self._tried(self._store.sessions.add_usage(_usage(found)), 0)

    async def _regularly(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            try:
                await self.write()
            except Exception:
                self._log.exception("figures of sessions could not be written, in an unforeseen way")

    async def _tried(self, writing: object, count: int) -> None:
        try:
            await writing  # type: ignore[misc]
        except SandboxError as error:
            self.left_out += count
            self._log.warning("figures of sessions could not be written", count=count, reason=str(error))

    def _measure(self, series: Series, value: float) -> None:
        """Every execution comes here: no object is made but the first time."""
        known = self._gathered.get(series)
        if known is not None:
            known.add(value)
        elif len(self._gathered) < MOST_SERIES:
            self._gathered[series] = Sum(1, value, value, value)
        else:
            self.left_out += 1

    def _disks(self, sessions: set[str]) -> list[MetricSample]:
        """How much room their files take now."""
        found = []
        for session in sessions:
            live = self._directory.open.get(session)
            if live is None or live.home.closed:
                continue
            with contextlib.suppress(OSError, SandboxError):
                area = os.fstatvfs(live.home.files.files_fd)
                taken = (area.f_blocks - area.f_bfree) * area.f_frsize
                found.append(observed(session, "disk_usage_bytes", MetricKind.gauge, float(taken), timestamps.now_ms()))
        return found


class FileNotes:
    """What the files of one session tell of themselves."""

    def __init__(self, recorder: Recorder, session: str) -> None:
        self._recorder = recorder
        self._session = session

    def written(self, name: str, entry: Entry, checksum: str) -> None:
        """A file whose path is too long to be noted is there all the same."""
        with contextlib.suppress(InvalidRequest):
            self._recorder.file(
                FileRecord(
                    session=self._session,
                    path=path_of(name),
                    checksum=f"sha256:{checksum}",
                    size_bytes=entry.size_bytes,
                    media_type=mimetypes.guess_type(name)[0] or "application/octet-stream",
                    etag=entry.etag,
                    created_ms=timestamps.now_ms(),
                )
            )

    def read(self, name: str) -> None:
        self._recorder.read(self._session, path_of(name))

    def deleted(self, name: str) -> None:
        self._recorder.file(FileDeleted(self._session, path_of(name), timestamps.now_ms()))


def path_of(name: str) -> str:
    """Absolute, as programs see it."""
    return posixpath.normpath(posixpath.join(_WORKSPACE, name))


def _sample(series: Series, figures: Sum) -> MetricSample:
    session, name, kind, of, state = series
    return MetricSample(
        session=session,
        name=name,
        kind=kind,
        value=figures.total if kind is MetricKind.counter else figures.total / figures.count,
        at_ms=timestamps.now_ms(),
        labels={"kind": str(of), "state": str(state)} if state else {},
        count=figures.count,
        least=figures.least,
        most=figures.most,
    )


def _usage(samples: list[MetricSample]) -> Mapping[str, SessionUsage]:
    figures: dict[str, dict[str, float]] = {}
    for sample in samples:
        value = sample.value if sample.kind is MetricKind.counter else sample.most
        figures.setdefault(sample.session, {})[sample.name] = value
    return {session: _used(found) for session, found in figures.items()}


def _used(found: Mapping[str, float]) -> SessionUsage:
    memory, disk = found.get("memory_usage_bytes"), found.get("disk_usage_bytes")
    return SessionUsage(
        cpu_s=found.get("cpu_usage_seconds"),
        memory_bytes=None if memory is None else int(memory),
        disk_bytes=None if disk is None else int(disk),
        updated_ms=timestamps.now_ms(),
    )
