"""What the operator decides about sessions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_runtime.model import Limits, PoolSizes
from sandbox_runtime.model.limits import GIB, MIB

BASIC_TEMPLATE = "python-basic"


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Times in seconds; None: never. limits: what executions have that neither session nor request sets."""

    node: str = "local"
    hostname: str = "localhost"
    template: str = BASIC_TEMPLATE
    template_image: str = ""
    limits: Limits = field(default_factory=Limits)
    max_memory_bytes: int = 4 * GIB
    max_disk_bytes: int = 16 * GIB
    max_cpu_cores: float = 4096.0
    max_processes: int = 1024
    max_execution_s: float = 3600.0
    max_sessions: int = 2000
    max_per_owner: int = 1000
    max_parallel: int = 1
    queue: int = 256
    slot_wait_s: float = 300.0
    contexts: int = 8
    forks: int = 64
    spare_s: float = 60.0
    output_bytes: int = MIB
    output_linger_s: float = 60.0
    idle_s: float | None = None
    lifetime_s: float | None = None
    creating_s: float = 300.0
    cleanup_s: float = 300.0
    heartbeat_s: float = 5.0
    silent_s: float = 30.0
    retries: int = 3
    retry_first_s: float = 1.0
    retry_max_s: float = 10.0
    pool: PoolSizes = field(default_factory=lambda: PoolSizes(ephemeral=2, persistent=1, minimum=1))
    pool_enabled: bool = True
    max_ready: int = 32
    package_index: str = ""
    network: str = "none"
    """What programs are given: none, or nat, which a session can do without."""
    pools: Mapping[str, PoolSizes] = field(default_factory=dict)
