"""Storage used by the files of live sessions: charged when a session is opened, measured while it is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox_runtime.model import Session, StorageKind
from sandbox_runtime.quantities import MIB

if TYPE_CHECKING:
    from sandbox_runtime.sessions.deps import SessionDeps
    from sandbox_runtime.sessions.registry import LiveSession

RESERVED_BYTES = MIB
"""Minimum charge of a session, for its folders and what the kernel keeps for them."""


def measure(deps: SessionDeps, live: LiveSession) -> int:
    """Charge the current size of a session's files. Return by how much it grew."""
    charge = deps.registry.charges.get(live.id)
    if charge is None or live.closing or live.environment.closed:
        return 0
    before = charge.size_bytes
    try:
        charge.resize(max(RESERVED_BYTES, live.environment.used_bytes()), force=True)
    except OSError:  # closed in the meantime
        return 0
    return charge.size_bytes - before


def check_capacity(deps: SessionDeps, live: LiveSession) -> None:
    """Raise StorageFull or QuotaExceeded if nothing more may be written."""
    charge = deps.registry.charges.get(live.id)
    if charge is not None:
        deps.ledger.check(charge.owner, charge.medium)


def admit(deps: SessionDeps, session: Session, size: int = 0) -> None:
    """Charge a session before it is opened with files of this size. Raises StorageFull or QuotaExceeded."""
    session_id = session.id
    if session_id not in deps.registry.charges:
        medium = deps.hosts[session.node].medium(session.resources.disk_bytes)
        charge = deps.ledger.open(StorageKind.session_files, session.owner, max(size, RESERVED_BYTES), medium)
        deps.registry.charges[session_id] = charge
