"""What the files of live sessions hold of the node's storage: charged when a session is opened, measured while it is."""

from __future__ import annotations

from sandbox_runtime.model import Session, StorageKind
from sandbox_runtime.quantities import MIB
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.registry import LiveSession

RESERVED_BYTES = MIB
"""What a session holds at the least: its folders, and what the kernel keeps for them."""


def measure(deps: SessionDeps, live: LiveSession) -> int:
    """Charge what the files of a session take now. Return by how much that grew."""
    charge = deps.registry.charges.get(live.id)
    if charge is None or live.closing or live.home.closed:
        return 0
    before = charge.size_bytes
    try:
        charge.resize(max(RESERVED_BYTES, live.home.used_bytes()), force=True)
    except OSError:  # closed meanwhile
        return 0
    return charge.size_bytes - before


def check_capacity(deps: SessionDeps, live: LiveSession) -> None:
    """Raises StorageFull or QuotaExceeded where nothing more may be written."""
    charge = deps.registry.charges.get(live.id)
    if charge is not None:
        deps.ledger.check(charge.owner, charge.medium)


def admit(deps: SessionDeps, session: Session, size: int = 0) -> None:
    """Charge a session that is about to be opened, with files of that size. Raises StorageFull or QuotaExceeded."""
    session_id = session.id
    if session_id not in deps.registry.charges:
        medium = deps.hosts[session.node].medium(session.resources.disk_bytes)
        charge = deps.ledger.open(StorageKind.session_files, session.owner, max(size, RESERVED_BYTES), medium)
        deps.registry.charges[session_id] = charge
