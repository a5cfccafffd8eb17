"""How something does, as those who look after it see it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HealthStatus(StrEnum):
    """From best to worst, except unknown: there was nothing to look at."""

    unknown = "unknown"
    healthy = "healthy"
    warning = "warning"
    unhealthy = "unhealthy"


class CheckKind(StrEnum):
    """liveness: it is there. readiness: something could be run in it. resource: it has room left. custom: its interpreters."""

    liveness = "liveness"
    readiness = "readiness"
    resource = "resource"
    custom = "custom"


@dataclass(frozen=True, slots=True)
class HealthCheck:
    kind: CheckKind
    status: HealthStatus
    message: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    session: str
    at_ms: int
    checks: tuple[HealthCheck, ...]

    @property
    def status(self) -> HealthStatus:
        """The worst of all."""
        order = list(HealthStatus)
        return max((check.status for check in self.checks), key=order.index, default=HealthStatus.unknown)

    @property
    def worst(self) -> HealthCheck | None:
        return next((check for check in self.checks if check.status is self.status), None)
