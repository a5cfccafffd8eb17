"""What sessions tell about themselves, under the names that operators of the control plane know."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

from sandbox_runtime.telemetry.metrics import SECONDS, Metrics

_LATEST_WEIGHT = 0.02
"""How much the latest execution counts in the rates of failures and timeouts."""


class SessionMetrics:
    """Labels come from closed sets only: modes, states, ways, kinds."""

    def __init__(self, metrics: Metrics) -> None:
        registry = metrics.registry
        self._sessions = Counter("sandbox_sessions", "Sessions made", ["mode", "way"], registry=registry)
        self._ended = Counter("sandbox_sessions_ended", "Sessions that ended", ["state"], registry=registry)
        self._executions = Counter("sandbox_executions", "Executions that ended", ["kind", "state"], registry=registry)
        self._duration = Histogram(
            "sandbox_execution_duration_seconds", "Wall time of executions", ["kind"], buckets=SECONDS, registry=registry
        )
        self._cold = Histogram("sandbox_cold_start_duration", "Seconds to a new session", buckets=SECONDS, registry=registry)
        self._warm = Histogram(
            "sandbox_warm_start_duration", "Seconds to a session that stood ready", buckets=SECONDS, registry=registry
        )
        self._retries = Counter("sandbox_execution_retries", "Executions tried again after a platform fault", registry=registry)
        self.failure_rate = self.timeout_rate = 0.0
        metrics.add_gauge("sandbox_failure_rate", "Share of recent executions that failed", lambda: self.failure_rate)
        metrics.add_gauge("sandbox_timeout_rate", "Share of recent executions that ran out of time", lambda: self.timeout_rate)

    def record_session(self, mode: str, way: str, took_s: float) -> None:
        self._sessions.labels(mode, way).inc()
        (self._cold if way == "cold" else self._warm).observe(took_s)

    def record_session_end(self, state: str) -> None:
        self._ended.labels(state).inc()

    def record_execution(self, kind: str, state: str, took_s: float) -> None:
        self._executions.labels(kind, state).inc()
        self._duration.labels(kind).observe(took_s)
        self.failure_rate += _LATEST_WEIGHT * ((state in ("failed", "crashed")) - self.failure_rate)
        self.timeout_rate += _LATEST_WEIGHT * ((state == "timeout") - self.timeout_rate)

    def record_retry(self) -> None:
        self._retries.inc()
