"""Templates: what sessions are created from."""

from __future__ import annotations

from typing import Any

from sandbox_runtime.errors import Conflict
from sandbox_runtime.model import Template
from sandbox_runtime.model.session import LIVE_SESSION_STATES
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.lifecycle.template_cache import TemplateCache
from sandbox_runtime.store import Page, SessionFilter, Store, TemplateFilter


class TemplateApi:
    """Methods that take a template's id raise NotFound if it is missing."""

    def __init__(self, store: Store, cache: TemplateCache) -> None:
        self._store = store
        self._cache = cache

    async def add(self, template: Template, owner: str = "") -> Template:
        return await self._store.templates.add(template, by=owner, audit=entry(owner, "create", "template", template.id))

    async def get(self, template_id: str) -> Template:
        return await self._store.templates.get(template_id)

    async def get_active(self, template_id: str) -> Template:
        """Return the template, at most a moment old, the default one for an empty id. Raises Conflict if it is inactive."""
        return await self._cache.get(template_id)

    async def list(self, where: TemplateFilter | None = None, limit: int = 50, offset: int = 0) -> Page[Template]:
        return await self._store.templates.list(where, limit, offset)

    async def change(self, template_id: str, owner: str = "", **changes: Any) -> Template:
        audit = entry(owner, "change", "template", template_id, fields=sorted(changes))
        changed = await self._store.templates.update(await self.get(template_id), by=owner, audit=audit, **changes)
        self._cache.forget(template_id)
        return changed

    async def delete(self, template_id: str, owner: str = "", *, force: bool = False) -> None:
        """Delete the template. Raises Conflict if live sessions were created from it, unless `force` is set."""
        using = await self._store.sessions.count(SessionFilter(template=template_id, states=LIVE_SESSION_STATES))
        if using and not force:
            raise Conflict(f"{using} live sessions use the template {template_id!r}: end them first")
        await self._store.templates.delete(template_id, by=owner, audit=entry(owner, "delete", "template", template_id))
        self._cache.forget(template_id)
