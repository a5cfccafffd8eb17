"""A named box with a life of its own, as it is remembered. What may follow what is decided in the sessions room, not here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import bounds
from sandbox_runtime.model.limits import GIB, KIB, MIB

MAX_TIMEOUT_S = 30 * 86_400.0
MAX_DEPENDENCIES = 200
NETWORKS = ("none", "nat")
ABOUT_BYTES = 32 * KIB


class SessionState(StrEnum):
    creating = "creating"
    running = "running"
    paused = "paused"
    completed = "completed"
    failed = "failed"
    timeout = "timeout"
    terminated = "terminated"

    @property
    def ended(self) -> bool:
        return self not in LIVE_SESSION_STATES


LIVE_SESSION_STATES = (SessionState.creating, SessionState.running, SessionState.paused)
ENDED_SESSION_STATES = tuple(state for state in SessionState if state.ended)


class SessionMode(StrEnum):
    ephemeral = "ephemeral"
    persistent = "persistent"


class InstallState(StrEnum):
    pending = "pending"
    installing = "installing"
    completed = "completed"
    failed = "failed"


@dataclass(frozen=True, slots=True)
class Resources:
    cpu_cores: float = 1.0
    memory_bytes: int = 512 * MIB
    disk_bytes: int = GIB
    processes: int = 128

    def __post_init__(self) -> None:
        bounds.check_number(self.cpu_cores, "cpu_cores", 0.01, 4096)
        bounds.check_number(self.memory_bytes, "memory_bytes", 4 * MIB, 1024 * GIB)
        bounds.check_number(self.disk_bytes, "disk_bytes", 64 * 1024, 1024 * GIB)
        bounds.check_number(self.processes, "processes", 1, 100_000)


@dataclass(frozen=True, slots=True)
class Dependency:
    """version is empty (any) or a requirement such as "==2.3.3"."""

    name: str
    version: str = ""

    def __post_init__(self) -> None:
        bounds.check_name(self.name, "a dependency's name", 214)
        bounds.check_name(self.version, f"the version of {self.name}", 100, optional=True)


@dataclass(frozen=True, slots=True)
class InstalledDependency:
    name: str
    version: str = ""
    location: str = ""
    installed_ms: int | None = None
    from_template: bool = False

    def __post_init__(self) -> None:
        bounds.check_name(self.name, "a dependency's name", 214)
        bounds.check_name(self.version, f"the version of {self.name}", 100, optional=True)
        bounds.check_text(self.location, f"the location of {self.name}", 4096)


@dataclass(frozen=True, slots=True)
class Installation:
    """The packages of a session: those asked for, those that are there, and how getting them went."""

    index_url: str = ""
    requested: tuple[Dependency, ...] = ()
    installed: tuple[InstalledDependency, ...] = ()
    state: InstallState = InstallState.pending
    error: str = ""
    started_ms: int | None = None
    completed_ms: int | None = None

    def __post_init__(self) -> None:
        bounds.check_text(self.index_url, "index_url", 512)
        bounds.check_count(self.requested, "requested dependencies", MAX_DEPENDENCIES)
        bounds.check_count(self.installed, "installed dependencies", 10 * MAX_DEPENDENCIES)
        bounds.check_text(self.error, "the error of the installation", bounds.MESSAGE_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Times are milliseconds since the epoch. idle_timeout_s and lifetime_s: None is for ever. node, box, pod, template and agent
    are ids, empty where there is none. version counts changes: whoever changes a session names the one it read."""

    id: str
    owner: str = ""
    agent: str = ""
    template: str = ""
    state: SessionState = SessionState.creating
    mode: SessionMode = SessionMode.ephemeral
    resources: Resources = Resources()
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 300.0
    idle_timeout_s: float | None = None
    lifetime_s: float | None = None
    runtime: str = ""
    """What its template runs, for example "python3.11"."""
    backend: str = ""
    """What kind of node it is on, for example "namespaces" or "docker"."""
    node: str = ""
    box: str = ""
    pod: str = ""
    executor_url: str = ""
    workspace: str = ""
    network: str = ""
    """none or nat; empty where it is whatever its server gives."""
    installation: Installation = Installation()
    about_json: str | None = None
    """What its owner wants to be remembered with it: a JSON object, in words of the owner's dialect."""
    error: str = ""
    created_ms: int
    updated_ms: int = 0
    started_ms: int | None = None
    completed_ms: int | None = None
    last_activity_ms: int | None = None
    expires_ms: int | None = None
    version: int = 0

    def __post_init__(self) -> None:
        bounds.check_id(self.id, "a session's id")
        for what, max_length in (("owner", 128), ("agent", 128), ("template", 64), ("node", 128), ("box", 128), ("pod", 128)):
            bounds.check_id(getattr(self, what), f"the {what} of a session", max_length, optional=True)
        bounds.check_name(self.runtime, "the runtime of a session", 30, optional=True)
        bounds.check_name(self.backend, "the backend of a session", 20, optional=True)
        bounds.check_env(self.env)
        if self.network not in ("", *NETWORKS):
            raise InvalidRequest(f"the network of a session is {' or '.join(NETWORKS)}, not {self.network[:20]!r}")
        for what in ("timeout_s", "idle_timeout_s", "lifetime_s"):
            bounds.check_number(getattr(self, what), what, 0.001, MAX_TIMEOUT_S)
        bounds.check_text(self.workspace, "the workspace of a session", 1024)
        bounds.check_text(self.executor_url, "executor_url", 512)
        bounds.check_text(self.about_json, "what is noted of a session", ABOUT_BYTES)
        bounds.check_text(self.error, "the error of a session", bounds.MESSAGE_BYTES)
