"""What sandboxes leave in figures: the files that were sent in, samples of what was measured, and what was used in all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import bounds

PATH_BYTES = 4096
MAX_LABELS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """One version of a file that came in through a door. The newest has the highest version; parent is the id of the one before,
    0 for the first. etag: of the file as it was written, so that whoever shows the checksum can see whether a program has changed
    the file since. id 0: not written yet."""

    session: str
    path: str
    checksum: str
    size_bytes: int
    media_type: str = ""
    etag: str = ""
    version: int = 1
    parent: int = 0
    reads: int = 0
    read_ms: int | None = None
    created_ms: int
    updated_ms: int = 0
    deleted_ms: int = 0
    id: int = 0

    def __post_init__(self) -> None:
        bounds.check_id(self.session, "the session of a file")
        bounds.check_text(self.path, "the path of a file", PATH_BYTES)
        for what, max_length in (("checksum", 128), ("media_type", 128), ("etag", 128)):
            bounds.check_name(getattr(self, what), f"the {what} of a file", max_length, optional=True)
        bounds.check_number(self.size_bytes, "the size of a file", 0, 2**50)

    @property
    def path_digest(self) -> str:
        return hash_path(self.path)


def hash_path(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()


class MetricKind(StrEnum):
    """counter: how much it grew. gauge: how much there was. histogram: how much each time."""

    counter = "counter"
    gauge = "gauge"
    histogram = "histogram"


class Period(StrEnum):
    """How much time a sample stands for."""

    raw = "raw"
    minute = "1m"
    five_minutes = "5m"
    hour = "1h"
    day = "1d"

    @property
    def ms(self) -> int:
        """0 for raw: as it was measured."""
        return _PERIOD_MS[self]


_PERIOD_MS = {
    Period.raw: 0,
    Period.minute: 60_000,
    Period.five_minutes: 300_000,
    Period.hour: 3_600_000,
    Period.day: 86_400_000,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSample:
    """at_ms: when, or where its period begins. value: of a counter the sum, otherwise the mean of count observations, the least
    and the most of which are kept as well."""

    session: str
    name: str
    kind: MetricKind
    value: float
    at_ms: int
    period: Period = Period.raw
    labels: Mapping[str, str] = field(default_factory=dict)
    count: int = 1
    minimum: float = 0.0
    maximum: float = 0.0

    def __post_init__(self) -> None:
        bounds.check_id(self.session, "the session of a sample")
        bounds.check_name(self.name, "the name of a metric", 64)
        bounds.check_number(self.value, f"a value of {self.name}", -1e300, 1e300)
        if len(self.labels) > MAX_LABELS:
            raise InvalidRequest(f"a sample has at most {MAX_LABELS} labels, not {len(self.labels)}")
        for label, value in self.labels.items():
            bounds.check_name(label, "a label", 32)
            bounds.check_name(value, f"the label {label}", 64, optional=True)


def new_sample(
    session: str, name: str, kind: MetricKind, value: float, at_ms: int, labels: Mapping[str, str] | None = None
) -> MetricSample:
    """What was measured once."""
    return MetricSample(
        session=session, name=name, kind=kind, value=value, at_ms=at_ms, labels=labels or {}, minimum=value, maximum=value
    )


def merge_samples(first: MetricSample, second: MetricSample) -> MetricSample:
    """Two samples of one series as one, at the time and of the period of the first."""
    count = first.count + second.count
    counted = first.kind is MetricKind.counter
    value = first.value + second.value if counted else (first.value * first.count + second.value * second.count) / count
    return MetricSample(
        session=first.session,
        name=first.name,
        kind=first.kind,
        value=value,
        at_ms=first.at_ms,
        period=first.period,
        labels=first.labels,
        count=count,
        minimum=min(first.minimum, second.minimum),
        maximum=max(first.maximum, second.maximum),
    )


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """What a session has used in all. None: nobody has measured it. updated_ms: when it was last noted."""

    cpu_s: float | None = None
    memory_bytes: int | None = None
    disk_bytes: int | None = None
    network_rx_bytes: int | None = None
    network_tx_bytes: int | None = None
    updated_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedRun:
    """What a command printed once, to be told again. key: of everything that it can have depended on. content: as it was packed.
    size_bytes: what it takes here."""

    key: str
    session: str
    command: str
    working_dir: str = ""
    exit_code: int = 0
    content: str
    compressed: bool = False
    size_bytes: int
    wall_ms: float = 0.0
    files_digest: str = ""
    created_ms: int
    expires_ms: int
    hits: int = 0
    used_ms: int = 0

    def __post_init__(self) -> None:
        bounds.check_name(self.key, "the key of a kept result", 64)
        bounds.check_id(self.session, "the session of a kept result")
        bounds.check_text(self.command, "the command of a kept result", bounds.MESSAGE_BYTES)
        bounds.check_text(self.content, "a kept result", 8 * bounds.TEXT_BYTES)


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """entries and size_bytes: as it is now. hits and misses: since the beginning."""

    entries: int = 0
    size_bytes: int = 0
    hits: int = 0
    misses: int = 0
