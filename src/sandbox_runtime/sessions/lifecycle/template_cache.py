"""Templates as of a moment ago: every new session reads one, and other servers may change them too."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sandbox_runtime.errors import Conflict
from sandbox_runtime.model import Template

if TYPE_CHECKING:
    from sandbox_runtime.sessions.deps import SessionDeps

_VALID_S = 2.0


class TemplateCache:
    def __init__(self, deps: SessionDeps) -> None:
        self._deps = deps
        self._templates: dict[str, tuple[Template, float]] = {}

    async def get(self, name: str) -> Template:
        """Return an active template, the default one for an empty name.

        Raises NotFound if it is missing and Conflict if it is inactive.
        """
        name, now = name or self._deps.options.template, asyncio.get_running_loop().time()
        template, valid_until = self._templates.get(name, (None, 0.0))
        if template is None or valid_until < now:
            template = await self._deps.store.templates.get(name)
            self._templates[name] = (template, now + _VALID_S)
        if not template.active:
            raise Conflict(f"the template {template.id!r} is inactive")
        return template

    def forget(self, name: str) -> None:
        """Read the template again next time: it was changed."""
        self._templates.pop(name, None)
