"""The recipe a session starts from, and how many boxes of it stand ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import bounds
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.model.session import MAX_TIMEOUT_S, Resources

MAX_PACKAGES = 500


@dataclass(frozen=True, slots=True)
class PoolSizes:
    """Boxes of one template that stand ready, for each mode of sessions; never fewer than minimum, none idle for longer than
    idle_s."""

    ephemeral: int = 0
    persistent: int = 0
    minimum: int = 0
    idle_s: float = 300.0

    def __post_init__(self) -> None:
        for what in ("ephemeral", "persistent", "minimum"):
            bounds.check_number(getattr(self, what), f"pool size {what}", 0, 10_000)
        bounds.check_number(self.idle_s, "idle_s of a pool", 0, MAX_TIMEOUT_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """security_json is kept for backends that know what it says. deleted_ms 0: it is alive; its name is free again otherwise."""

    id: str
    name: str
    description: str = ""
    image: str = ""
    base_image: str = ""
    runtime: str = "python3.11"
    resources: Resources = Resources()
    timeout_s: float = 300.0
    packages: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    security_json: str | None = None
    pool: PoolSizes = PoolSizes()
    active: bool = True
    created_ms: int
    updated_ms: int = 0
    deleted_ms: int = 0
    version: int = 0

    def __post_init__(self) -> None:
        bounds.check_id(self.id, "a template's id", bounds.SHORT_ID_CHARACTERS)
        bounds.check_name(self.name, "a template's name", 255)
        bounds.check_text(self.description, "the description of a template", 2000)
        bounds.check_text(self.image, "image", 512)
        bounds.check_text(self.base_image, "base_image", 256)
        bounds.check_name(self.runtime, "the runtime of a template", 30)
        bounds.check_number(self.timeout_s, "timeout_s", 0.001, MAX_TIMEOUT_S)
        bounds.check_count(self.packages, "packages", MAX_PACKAGES)
        bounds.check_env(self.env)
        bounds.check_text(self.security_json, "security_json", bounds.MESSAGE_BYTES)
        if self.resources.memory_bytes % MIB or self.resources.disk_bytes % MIB:
            raise InvalidRequest("memory and disk of a template are whole MiB")
