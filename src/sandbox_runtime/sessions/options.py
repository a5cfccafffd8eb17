"""Options of sessions, which the operator sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_runtime.model import Limits, PoolSizes
from sandbox_runtime.model.limits import GIB, MIB

BASIC_TEMPLATE = "python-basic"


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Names that end in _s are seconds."""

    node: str = "local"
    hostname: str = "localhost"
    template: str = BASIC_TEMPLATE
    """Of sessions that name none."""
    template_image: str = ""
    limits: Limits = field(default_factory=Limits)
    """Of executions, where neither session nor request sets them."""

    max_memory_bytes: int = 4 * GIB
    max_disk_bytes: int = 16 * GIB
    max_cpu_cores: float = 4096.0
    max_processes: int = 1024
    max_execution_s: float = 3600.0
    max_sessions: int = 2000
    max_per_owner: int = 1000
    max_parallel: int = 1
    """Concurrent executions of one session."""
    max_queue: int = 256
    """Waiting executions of one session."""
    max_contexts: int = 8
    max_forks: int = 64
    """Forks of one request."""
    max_output_bytes: int = MIB
    """Output stored of an execution that was stopped."""

    slot_wait_s: float = 300.0
    """How long an accepted execution waits for a slot on the machine."""
    fork_pool_idle_s: float = 60.0
    """How long an environment waits for the next fork of a session; 0: none is prepared."""
    output_linger_s: float = 60.0
    """How long the complete output of an ended execution can be followed."""
    idle_s: float | None = None
    """Default idle timeout of sessions; None: none."""
    lifetime_s: float | None = None
    """Default lifetime of sessions; None: unlimited."""
    create_timeout_s: float = 300.0
    """A session that is still "creating" after this time failed."""
    sweep_every_s: float = 300.0
    heartbeat_every_s: float = 5.0
    node_timeout_s: float = 30.0
    """A node without a heartbeat for this time is offline."""

    retries: int = 3
    """Retries of executions and of repairs of sessions after platform faults."""
    retry_first_s: float = 1.0
    retry_max_s: float = 10.0

    pool: PoolSizes = field(default_factory=lambda: PoolSizes(ephemeral=2, persistent=1, minimum=1))
    """Warm pool sizes of templates that set none."""
    pools: Mapping[str, PoolSizes] = field(default_factory=dict)
    """Warm pool sizes by template; they override those of the template."""
    pool_enabled: bool = True
    max_ready: int = 32
    """Environments in all warm pools together."""

    package_index: str = ""
    network: str = "none"
    """Network of programs: "none" or "nat". A session may opt out of "nat"."""
