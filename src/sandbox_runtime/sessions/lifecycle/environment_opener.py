"""Environments for sessions: taken from the warm pool, or opened.

A fault is retried once. After repeated faults the node's circuit breaker refuses for a while.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from sandbox_runtime.errors import Conflict, NotFound, PlatformFault
from sandbox_runtime.model import PoolSizes, Resources, Session, SessionMode, Template
from sandbox_runtime.retry import Backoff, retry
from sandbox_runtime.sessions.lifecycle.pool import EnvironmentKind, EnvironmentPool
from sandbox_runtime.sessions.maintenance.breaker import Breaker
from sandbox_runtime.sessions.nodes.node import Environment

if TYPE_CHECKING:
    from sandbox_runtime.sessions.deps import SessionDeps
    from sandbox_runtime.sessions.lifecycle.template_cache import TemplateCache

BUDGET_S = 10.0
_BACKOFF = Backoff(retries=1, first_s=0.1, max_s=0.1)


class EnvironmentOpener:
    def __init__(self, deps: SessionDeps, pool: EnvironmentPool, templates: TemplateCache) -> None:
        self._deps = deps
        self._templates = templates
        self.pool = pool
        self.breakers = {node: Breaker(f"opening environments on node {node!r}") for node in deps.hosts}

    def want(self, template: Template, mode: SessionMode, resources: Resources, network: str) -> EnvironmentKind:
        """Return the kind of environment that such a session takes; the pool keeps some ready from now on."""
        return self.pool.want(template, mode, resources, self._pool_sizes(template), network)

    async def warm(self, template_name: str) -> None:
        """Keep environments of this template ready for the first sessions."""
        template = await self._templates.get(template_name)
        for mode in SessionMode:
            self.want(template, mode, template.resources, self._deps.options.network)

    async def take_or_open(self, session: Session) -> Environment:
        """Return an environment for a session like this one. Raises as `open` does."""
        with contextlib.suppress(NotFound, Conflict):  # the template may be deleted or inactive by now
            template = await self._templates.get(session.template)
            network = session.network or self._deps.options.network
            environment = self.pool.take(self.want(template, session.mode, session.resources, network))
            if environment is not None:
                return environment
        return await self.open(session)

    async def open(self, session: Session) -> Environment:
        """Open an environment.

        Raises PlatformFault, TooMany while the node's circuit breaker is open, and whatever the node refuses with.
        """
        host, breaker = self._deps.hosts[session.node], self.breakers[session.node]

        async def attempt() -> Environment:
            try:
                return await host.open(session.resources, session.network)
            except OSError as error:
                raise PlatformFault(f"the environment could not be opened: {error}") from error

        breaker.check()
        try:
            environment = await retry(
                attempt, _BACKOFF, retry_error=lambda error: isinstance(error, PlatformFault), budget_s=BUDGET_S
            )
        except PlatformFault:
            breaker.record_failure()
            raise
        except BaseException:
            breaker.release()
            raise
        breaker.record_success()
        return environment

    def _pool_sizes(self, template: Template) -> PoolSizes:
        """Return the sizes that the options set for this template, else those of the template, else the default ones."""
        options = self._deps.options
        own = template.pool
        chosen = own if own.ephemeral or own.persistent or own.minimum else options.pool
        return options.pools.get(template.id, chosen)
