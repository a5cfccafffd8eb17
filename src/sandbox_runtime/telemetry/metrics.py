"""Counters, gauges and histograms in Prometheus' text form. One registry for each platform, none is global."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """What the engine tells about itself. Labels come from closed sets only: catalog names, endings, blames."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._runs = Counter("sandbox_runs", "Commands that ended", ["language", "step", "ending", "blame"], registry=registry)
        self._wall = Histogram(
            "sandbox_run_wall_seconds", "Wall time of commands", ["language", "step"], buckets=SECONDS, registry=registry
        )
        self._queue = Histogram(
            "sandbox_queue_wait_seconds", "Time spent waiting for a place", buckets=SECONDS, registry=registry
        )
        self._rejections = Counter("sandbox_rejections", "Requests refused because of load", ["reason"], registry=registry)
        self._boxes = Counter("sandbox_boxes_taken", "Boxes taken, ready or opened on demand", ["how"], registry=registry)
        self._builds = Counter("sandbox_builds_looked_for", "Compile steps looked for in the cache", ["how"], registry=registry)
        self._faults = Counter("sandbox_platform_faults", "Faults of this platform", ["where"], registry=registry)

    def record_command(self, language: str, step: str, ending: str, blame: str, wall_s: float) -> None:
        self._runs.labels(language, step, ending, blame).inc()
        self._wall.labels(language, step).observe(wall_s)

    def record_queue_wait(self, wait_s: float) -> None:
        self._queue.observe(wait_s)

    def record_rejection(self, reason: str) -> None:
        self._rejections.labels(reason).inc()

    def record_box(self, how: str) -> None:
        self._boxes.labels(how).inc()

    def record_build_lookup(self, how: str) -> None:
        self._builds.labels(how).inc()

    def record_fault(self, where: str) -> None:
        self._faults.labels(where).inc()

    def add_gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A gauge that is read when someone asks, so that keeping it costs nothing."""
        Gauge(name, text, registry=self.registry).set_function(read)

    def add_labeled_gauge(
        self, name: str, text: str, labels: Sequence[str], reads: Mapping[tuple[str, ...], Callable[[], float]]
    ) -> None:
        """The same with labels: one gauge for each set of their values."""
        gauge = Gauge(name, text, labels, registry=self.registry)
        for values, read in reads.items():
            gauge.labels(*values).set_function(read)

    def exposition(self) -> bytes:
        return generate_latest(self.registry)
