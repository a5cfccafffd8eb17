"""Live sessions of this server, and what runs in each."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from sandbox_runtime import timestamps
from sandbox_runtime.engine.contexts import Context
from sandbox_runtime.engine.fifo import FifoSlots, Turn
from sandbox_runtime.engine.terminals import Terminal
from sandbox_runtime.errors import Conflict, TooMany
from sandbox_runtime.model import Artifact, AuditEntry, Execution, Session, SessionState
from sandbox_runtime.sessions.executions.output import OutputLog
from sandbox_runtime.sessions.nodes.node import Environment
from sandbox_runtime.workspace.digest import Digests
from sandbox_runtime.workspace.ledger import Charge

if TYPE_CHECKING:
    from sandbox_runtime.sessions.lifecycle.fork_pool import ForkPool

_FULL_RETRY_S = 2.0
MAX_TERMINALS = 4
"""Concurrent terminals of one session."""


class Slots(FifoSlots):
    """Concurrent executions of one session; the rest wait in order."""

    def reserve(self) -> Turn:
        """Return a turn, done when the slot is the caller's, who must call `abandon` in the end. Raises TooMany if the queue is
        full."""
        if self.full:
            raise TooMany(f"{self.waiting} executions of this session are waiting; try again later", _FULL_RETRY_S)
        if not self.acquire():
            return self.wait()
        turn: Turn = asyncio.get_running_loop().create_future()
        turn.set_result(None)
        return turn


def _set_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass(slots=True)
class LiveExecution:
    """An execution of this server, from its start until its output is forgotten."""

    row: Execution
    output: OutputLog
    done: asyncio.Future[Execution]
    """Resolves to the row as it was stored at the end."""
    task: asyncio.Task[None] | None = None
    """Runs it."""
    stop_reason: str = ""
    """Why the server stopped it; empty if it did not."""
    terminal: Terminal | None = None
    pending_audit: AuditEntry | None = None
    """The audit entry to write with its row; None once that is written."""
    insert_timer: asyncio.TimerHandle | None = None
    """Starts insert_task unless the execution ends first."""
    insert_task: asyncio.Task[Execution] | None = None
    """Inserts its row."""
    end_written: asyncio.Event | None = None
    """Set when its end has been written; None before that write starts."""
    artifacts: tuple[Artifact, ...] = ()
    """Files that it created or changed."""
    admitted_at: float | None = None
    """When it got its slot on the machine; None while it has none."""
    suspended: bool = False
    """It released its slot because its session is paused."""


@dataclass(slots=True)
class LiveContext:
    id: str
    interpreter: Context
    created_ms: int
    executions: int = 0
    slots: Slots = field(default_factory=lambda: Slots(1, 64))


@dataclass(slots=True)
class LiveSession:
    """A session whose environment is open on this server."""

    session: Session
    """The row as this server last read or wrote it."""
    environment: Environment
    slots: Slots
    """Of its executions, except those in contexts and on terminals."""
    contexts: dict[str, LiveContext] = field(default_factory=dict)
    executions: dict[str, LiveExecution] = field(default_factory=dict)
    active_ms: int = 0
    """Its latest activity."""
    closing: bool = False
    terminals: Slots = field(default_factory=lambda: Slots(MAX_TERMINALS, 0))
    """Separate from `slots`, so that an open terminal, which is mostly idle, delays no execution."""
    fork_pool: ForkPool | None = None
    removed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the registry has removed it."""
    resumed: asyncio.Event = field(default_factory=_set_event)
    """Cleared while it is paused."""
    digests: Digests = field(default_factory=dict)
    """Digests of its files as of the last scan."""
    digest_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held during such a scan."""
    change_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while contexts are opened or closed, packages installed or forks made, and while it is paused or resumed."""

    @property
    def id(self) -> str:
        return self.session.id

    @property
    def modules(self) -> tuple[str, ...]:
        """Folders of installed packages."""
        return (PACKAGES_FOLDER,) if self.session.installation.installed else ()

    def touch(self) -> None:
        self.active_ms = timestamps.now_ms()

    def check_running(self) -> None:
        """Raise Conflict unless the session is running."""
        if self.session.state is SessionState.paused and not self.closing:
            raise Conflict(f"the session {self.id!r} is paused: resume it first")
        if self.closing or self.session.state is not SessionState.running:
            raise Conflict(f"the session {self.id!r} is {'ending' if self.closing else self.session.state}, not running")


PACKAGES_FOLDER = "/home/sandbox/.packages"
"""Where the packages of a session are installed."""


class SessionRegistry:
    """All live sessions of this node, and those whose environments are open."""

    def __init__(self) -> None:
        self.open: dict[str, LiveSession] = {}
        self.charges: dict[str, Charge] = {}
        """Storage charged for the files of each open session; released with its environment."""
        self._owners: dict[str, str] = {}
        self._per_owner: Counter[str] = Counter()
        self._opening_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def count(self) -> int:
        return len(self._owners)

    def owned_by(self, owner: str) -> int:
        return self._per_owner[owner]

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._owners

    def enter(self, session_id: str, owner: str) -> None:
        """Count a live session."""
        if session_id not in self._owners:
            self._owners[session_id] = owner
            self._per_owner[owner] += 1

    def leave(self, session_id: str) -> None:
        """Remove a session that has ended or could not be created."""
        live = self.open.pop(session_id, None)
        self.release(session_id)
        if live is not None:
            live.removed.set()
        owner = self._owners.pop(session_id, None)
        if owner is not None:
            self._per_owner[owner] -= 1
            if not self._per_owner[owner]:
                del self._per_owner[owner]

    def opening_lock(self, session_id: str) -> asyncio.Lock:
        """Return the lock of a session whose environment is being opened, or whose row is being deleted.

        The lock exists only while somebody holds it or waits for it.
        """
        return self._opening_locks.setdefault(session_id, asyncio.Lock())

    def release(self, session_id: str) -> None:
        """Release the storage charged for a session: its files are gone."""
        charge = self.charges.pop(session_id, None)
        if charge is not None:
            charge.release()

    def executions(self) -> dict[str, LiveExecution]:
        return {key: execution for live in self.open.values() for key, execution in live.executions.items()}
