"""Circuit breakers and combined health checks."""

from __future__ import annotations

from sandbox_runtime.model.health import CheckKind, Health, HealthCheck, HealthStatus


def test_the_status_of_all_checks_is_that_of_the_worst() -> None:
    good = HealthCheck(CheckKind.liveness, HealthStatus.healthy)
    bad = HealthCheck(CheckKind.resource, HealthStatus.unhealthy, "full")
    assert Health("s", 0, (good, bad, good)).worst == bad
    assert Health("s", 0, ()).status is HealthStatus.unknown


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now
