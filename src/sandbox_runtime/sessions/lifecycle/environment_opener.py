"""Opens environments for sessions. A fault is retried once; after repeated faults the node's circuit breaker refuses for a
while."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.model import Session
from sandbox_runtime.retry import Backoff, retry
from sandbox_runtime.sessions.maintenance.breaker import Breaker
from sandbox_runtime.sessions.nodes.node import Home, Host

BUDGET_S = 10.0
_BACKOFF = Backoff(retries=1, first_s=0.1, max_s=0.1)


class EnvironmentOpener:
    def __init__(self, hosts: Mapping[str, Host]) -> None:
        self._hosts = hosts
        self.breakers = {node: Breaker(f"opening homes on node {node!r}") for node in hosts}

    async def open(self, session: Session) -> Home:
        """Raises PlatformFault, and TooMany while the node's breaker is open; what a node refuses is raised as it is."""
        host, breaker = self._hosts[session.node], self.breakers[session.node]

        async def opened() -> Home:
            try:
                return await host.open(session.resources, session.network)
            except OSError as error:
                raise PlatformFault(f"no home could be opened: {error}") from error

        breaker.check()
        try:
            home = await retry(opened, _BACKOFF, retry_error=lambda error: isinstance(error, PlatformFault), budget_s=BUDGET_S)
        except PlatformFault:
            breaker.record_failure()
            raise
        except BaseException:
            breaker.release()
            raise
        breaker.record_success()
        return home
