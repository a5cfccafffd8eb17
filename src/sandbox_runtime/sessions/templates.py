"""The verbs about templates: what sessions are made from."""

from __future__ import annotations

from typing import Any

from sandbox_runtime.errors import Conflict
from sandbox_runtime.model import SessionState, Template
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle
from sandbox_runtime.store import Page, SessionFilter, Store, TemplateFilter

_NOT_ENDED = tuple(state for state in SessionState if not state.ended)


class Templates:
    """Raises NotFound for what is not there."""

    def __init__(self, store: Store, lifecycle: Lifecycle) -> None:
        self._store = store
        self._lifecycle = lifecycle

    async def add(self, template: Template, owner: str = "") -> Template:
        return await self._store.templates.add(template, by=owner, audit=entry(owner, "create", "template", template.id))

    async def get(self, template_id: str) -> Template:
        return await self._store.templates.get(template_id)

    async def get_active(self, template_id: str) -> Template:
        """As it was a moment ago at the most; Conflict where it is switched off."""
        return await self._lifecycle.template(template_id)

    async def list(self, where: TemplateFilter | None = None, limit: int = 50, offset: int = 0) -> Page[Template]:
        return await self._store.templates.list(where, limit, offset)

    async def change(self, template_id: str, owner: str = "", **changes: Any) -> Template:
        audit = entry(owner, "change", "template", template_id, fields=sorted(changes))
        changed = await self._store.templates.update(await self.get(template_id), by=owner, audit=audit, **changes)
        self._lifecycle.forget_template(template_id)
        return changed

    async def delete(self, template_id: str, owner: str = "", *, force: bool = False) -> None:
        """Conflict where sessions that have not ended were made from it, unless that does not matter."""
        using = await self._store.sessions.count(SessionFilter(template=template_id, states=_NOT_ENDED))
        if using and not force:
            raise Conflict(f"{using} sessions that have not ended were made from the template {template_id!r}: end them first")
        await self._store.templates.delete(template_id, by=owner, audit=entry(owner, "delete", "template", template_id))
        self._lifecycle.forget_template(template_id)
