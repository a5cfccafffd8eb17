"""Configuration of a new session for either interface, and the body of its request."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.quantities import parse_bytes, parse_cpu, parse_number, parse_whole
from sandbox_runtime.sdk.session_models import Dependency

DEFAULT_TEMPLATE = "python-basic"
WORKSPACE_KEYS = frozenset({"allow_network", "cpu_quota", "memory_limit", "size"})
"""Keys of the workspace interface only: a configuration with one of them is sent there."""


def _checked_by(parse: Callable[[object], object]) -> Callable[[object], object]:
    """Return a validator that refuses what cannot be parsed and leaves the rest for the server as it is."""

    def check(value: object) -> object:
        parse(value)
        return value

    return check


Number = Annotated[float, BeforeValidator(_checked_by(parse_number))]
Whole = Annotated[int, BeforeValidator(_checked_by(parse_whole))]
Size = Annotated[str, BeforeValidator(_checked_by(parse_bytes))]
Cores = Annotated[str, BeforeValidator(_checked_by(parse_cpu))]


class SessionConfig(BaseModel):
    """None means the template's value. With an agent_id, the running session of that agent is returned instead of a new one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    template_id: str = DEFAULT_TEMPLATE
    mode: Literal["ephemeral", "persistent"] = "ephemeral"
    agent_id: str | None = None
    timeout: Whole | None = None
    """Default timeout of executions in seconds."""
    cpu: Cores | None = None
    memory: Size | None = None
    disk: Size | None = None
    env_vars: dict[str, str] = Field(default_factory=dict)
    dependencies: list[Dependency] = Field(default_factory=list)
    install_timeout: Whole | None = None
    fail_on_dependency_error: bool | None = None
    python_package_index_url: str | None = None
    idle_timeout: Number | None = None
    """Seconds without requests after which the session ends."""
    lifetime: Number | None = None
    network: Literal["none", "nat"] | None = None
    """None: the server's default."""


class WorkspaceConfig(BaseModel):
    """Configuration of the workspace interface: cores, memory in KB, size of the workspace."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    allow_network: bool | None = None
    cpu_quota: Annotated[float, BeforeValidator(_checked_by(parse_cpu))] | None = None
    memory_limit: Annotated[int | str, BeforeValidator(_checked_by(parse_bytes))] | None = None
    timeout: Number | None = None
    size: Size | None = None


Config = SessionConfig | WorkspaceConfig


def parse_config(given: Config | Mapping[str, Any] | None, options: Mapping[str, Any]) -> Config:
    """Return the configuration. `options` override `given`."""
    known = given.model_dump(exclude_unset=True) if isinstance(given, BaseModel) else dict(given or {})
    asked = {**known, **options}
    kind: type[Config] = WorkspaceConfig if WORKSPACE_KEYS & asked.keys() else SessionConfig
    try:
        return kind.model_validate(asked)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise InvalidRequest(f"this is no configuration of a session: {told}") from error


def session_body(config: Config, session_id: str | None) -> dict[str, Any]:
    body = config.model_dump(exclude_none=True, mode="json")
    return {**body, "id": session_id} if session_id and isinstance(config, SessionConfig) else body


def new_session_id() -> str:
    return f"sess_{secrets.token_hex(8)}"
