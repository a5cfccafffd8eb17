"""Audit entries. The store writes each in the same transaction as the change that it describes."""

from __future__ import annotations

import json
from typing import Any

from sandbox_runtime import timestamps
from sandbox_runtime.model import AuditEntry, Session


def entry(actor: str, action: str, kind: str, subject: str, *, owner: str = "", **details: Any) -> AuditEntry:
    """Return an entry with the current time. `details` must not contain code, output or secrets."""
    return AuditEntry(
        at_ms=timestamps.now_ms(),
        actor=actor,
        action=action,
        kind=kind,
        subject=subject,
        owner=owner,
        details_json=json.dumps(details) if details else None,
    )


def session_entry(session: Session, action: str, actor: str | None = None, **details: str) -> AuditEntry:
    """Return an entry about a session, with its state, template and mode. `actor` is the owner by default."""
    facts = {"state": session.state, "template": session.template, "mode": session.mode, **details}
    return entry(session.owner if actor is None else actor, action, "session", session.id, owner=session.owner, **facts)
