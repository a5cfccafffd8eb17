"""What the judge tells about itself."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

from sandbox_runtime.telemetry.metrics import SECONDS, Metrics


class JudgeMetrics:
    """Labels come from closed sets only: reasons, and the datasets that are registered here."""

    def __init__(self, metrics: Metrics, datasets: frozenset[str]) -> None:
        self._datasets = datasets
        registry = metrics.registry
        self._verdicts = Counter("sandbox_verdicts", "Completions judged", ["dataset", "reason"], registry=registry)
        self._seconds = Histogram("sandbox_judge_seconds", "Time from a trial to its verdict", buckets=SECONDS, registry=registry)
        self._retries = Counter("sandbox_judge_retries", "Steps tried again after a fault of this platform", registry=registry)

    def record_verdict(self, dataset: str, reason: str, took_s: float) -> None:
        self._verdicts.labels(dataset if dataset in self._datasets else "other", reason).inc()
        self._seconds.observe(took_s)

    def record_retry(self) -> None:
        self._retries.inc()
