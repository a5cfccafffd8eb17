"""A WarmPool for items that take long to start, such as notebook kernels.

Nothing is started before the first use, so a deployment that never needs such items pays nothing. From then on the pool keeps
`size` of them ready, until none has been used for IDLE_AFTER_S. Items that die or become stale while they wait are dropped.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from sandbox_runtime.engine.pools.warm_pool import WarmPool
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.telemetry.logs import Log

IDLE_AFTER_S = 600.0
TRIM_EVERY_S = 30.0


class Expiring(Protocol):
    @property
    def alive(self) -> bool: ...

    @property
    def stale(self) -> bool:
        """Whether it has waited too long to be used."""
        ...


LiveItem = TypeVar("LiveItem", bound=Expiring)


class CannotStart(Exception):
    """Raised by openers, besides platform errors, if nothing can be started and no one is to blame."""


class OnDemandPool(WarmPool[LiveItem]):
    """`name` appears in the log."""

    def __init__(
        self,
        name: str,
        size: int,
        open_item: Callable[[], Awaitable[LiveItem]],
        close_item: Callable[[LiveItem], Awaitable[None]],
        log: Log,
    ) -> None:
        super().__init__(
            open_item,
            close_item,
            target=self._recent_target,
            usable=_is_usable,
            on_failure=self._log_failure,
            trim_every_s=TRIM_EVERY_S,
        )
        self._name = name
        self._keep = size
        self._log = log
        self._used_at = -IDLE_AFTER_S

    async def take(self) -> LiveItem | None:
        """Return a usable item or None. The caller must refill() when it is done: starting another one earlier would only slow
        what has just begun."""
        self._used_at = time.monotonic()
        return await super().take()

    def refill(self) -> None:
        self._used_at = time.monotonic()
        if self._keep:
            super().refill()

    def _recent_target(self) -> int:
        return self._keep if time.monotonic() - self._used_at < IDLE_AFTER_S else 0

    def _log_failure(self, error: Exception) -> None:
        if isinstance(error, SandboxError | CannotStart):
            self._log.warning("nothing can be started ahead of time", what=self._name, reason=str(error))
        else:
            self._log.exception("starting ahead of time failed in an unforeseen way", what=self._name)


def _is_usable(item: Expiring) -> bool:
    return item.alive and not item.stale
