"""What a client requests: a session, an execution in it. Both are validated when they are built."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.engine.terminals import Size
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Dependency, ExecutionKind, Resources, SessionMode, bounds
from sandbox_runtime.model.execution import MAX_TIMEOUT_S
from sandbox_runtime.model.session import NETWORKS
from sandbox_runtime.sessions import ids

MAX_ARGS = 1000
MAX_VARIABLES = 100
MAX_DEPENDENCIES = 50
MIN_INSTALL_S, MAX_INSTALL_S = 1.0, 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpec:
    """A value of None is taken from the template or the options."""

    id: str = ""
    """Empty: a new id is generated."""
    template: str = ""
    """Empty: the default template."""
    agent: str = ""
    mode: SessionMode = SessionMode.ephemeral
    resources: Resources | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    idle_timeout_s: float | None = None
    lifetime_s: float | None = None
    network: str = ""
    """Either "none" or "nat"; empty: what the server offers."""
    about_json: str | None = None
    dependencies: tuple[Dependency, ...] = ()
    index_url: str = ""
    install_timeout_s: float = 300.0
    fail_on_dependency_error: bool = True
    require_new: bool = False
    """Do not return a running session of the agent instead of a new one."""

    def __post_init__(self) -> None:
        if self.id and not ids.is_session_id(self.id):
            raise InvalidRequest(f"a session id consists of letters, digits and . _ : -, not {self.id[:60]!r}")
        if self.network not in ("", *NETWORKS):
            raise InvalidRequest(f"the network of a session is {' or '.join(NETWORKS)}, not {self.network[:20]!r}")
        if self.network == "none" and self.dependencies:
            raise InvalidRequest("dependencies need a network: set network to nat, or omit the dependencies")
        bounds.check_env(self.env)
        bounds.check_count(self.dependencies, "dependencies", MAX_DEPENDENCIES)
        bounds.check_number(self.install_timeout_s, "install_timeout_s", MIN_INSTALL_S, MAX_INSTALL_S)
        bounds.check_text(self.index_url, "index_url", 512)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSpec:
    """See engine.environments.RunRequest for `args`, `filename`, `call_handler` and `variables`."""

    code: str
    """Empty with a terminal: a shell."""
    kind: ExecutionKind = ExecutionKind.code
    """code: a program. handler: called with `event`. command: a shell command, or a program with `args`. cell: code in the live
    interpreter `context`."""
    language: str = "python"
    args: tuple[str, ...] = ()
    filename: str = ""
    event: Mapping[str, Any] | None = None
    extra_context: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a handler's context beside the usual ones."""
    stdin: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    """None: that of the session."""
    context: str = ""
    variables: tuple[str, ...] = ()
    call_handler: bool = False
    artifacts: bool = False
    """Record the files that it creates or changes."""
    idempotency_key: str = ""
    terminal: Size | None = None
    """Run a command on a terminal of this size; see TerminalApi."""

    def __post_init__(self) -> None:
        bounds.check_text(self.code, "code")
        bounds.check_count(self.args, "args", MAX_ARGS)
        bounds.check_count(self.variables, "wanted variables", MAX_VARIABLES)
        bounds.check_number(self.timeout_s, "timeout_s", 0.001, MAX_TIMEOUT_S)
        bounds.check_env(self.env)
        if self.event is not None and not isinstance(self.event, Mapping):
            raise InvalidRequest(f"the event must be an object, not {type(self.event).__name__}")
        if self.terminal is not None and self.kind is not ExecutionKind.command:
            raise InvalidRequest("only commands run on a terminal: set kind to command")
        if (self.kind is ExecutionKind.cell) != bool(self.context):
            raise InvalidRequest("kind cell and context must be set together: set both, or neither")

    def event_json(self) -> str | None:
        if self.event is None:
            return None
        try:
            return json.dumps(self.event, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidRequest(f"the event cannot be encoded as JSON: {error}") from error
