"""What the audit is told of a change. The store writes both at once: never one without the other."""

from __future__ import annotations

import json
from typing import Any

from sandbox_runtime import timestamps
from sandbox_runtime.model import AuditEntry


def entry(actor: str, action: str, kind: str, subject: str, *, owner: str = "", **details: Any) -> AuditEntry:
    """details hold no code, no output and no secret."""
    details_json = json.dumps(details) if details else None
    return AuditEntry(
        at_ms=timestamps.now_ms(), actor=actor, action=action, kind=kind, subject=subject, owner=owner, details_json=details_json
    )
