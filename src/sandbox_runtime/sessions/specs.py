"""What is asked for: a session, an execution in it. Checked when it is built."""

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
    """id empty: one is made. template empty: the default one. What is None is as the template or the settings say.
    network: none or nat; empty: as the server gives it. require_new: an agent's running session is not given instead of a new
    one."""

    id: str = ""
    template: str = ""
    agent: str = ""
    mode: SessionMode = SessionMode.ephemeral
    resources: Resources | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    idle_timeout_s: float | None = None
    lifetime_s: float | None = None
    network: str = ""
    about_json: str | None = None
    dependencies: tuple[Dependency, ...] = ()
    index_url: str = ""
    install_timeout_s: float = 300.0
    fail_on_dependency_error: bool = True
    require_new: bool = False

    def __post_init__(self) -> None:
        if self.id and not ids.is_session_name(self.id):
            raise InvalidRequest(f"a session's id is made of letters, digits and . _ : -, not {self.id[:60]!r}")
        if self.network not in ("", *NETWORKS):
            raise InvalidRequest(f"the network of a session is {' or '.join(NETWORKS)}, not {self.network[:20]!r}")
        if self.network == "none" and self.dependencies:
            raise InvalidRequest("packages cannot be installed without a network: ask for network nat, or for none of them")
        bounds.check_env(self.env)
        bounds.check_count(self.dependencies, "dependencies", MAX_DEPENDENCIES)
        bounds.check_number(self.install_timeout_s, "install_timeout_s", MIN_INSTALL_S, MAX_INSTALL_S)
        bounds.check_text(self.index_url, "index_url", 512)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSpec:
    """kind: code (a program), handler (called with the event), command (a shell's line, or with args a program), cell (code in
    the live context of that id). timeout_s None: the session's. filename, wanted, call_found, args: see engine.homes.RunRequest.
    about: fields that a handler finds in its context beside the usual ones. artifacts: files that it leaves are recorded.
    terminal: a command runs on one of this size; see type_in and resize. Without code it is a shell."""

    code: str
    kind: ExecutionKind = ExecutionKind.code
    language: str = "python"
    args: tuple[str, ...] = ()
    filename: str = ""
    event: Mapping[str, Any] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    stdin: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    context: str = ""
    wanted: tuple[str, ...] = ()
    call_found: bool = False
    artifacts: bool = False
    idempotency_key: str = ""
    terminal: Size | None = None

    def __post_init__(self) -> None:
        bounds.check_text(self.code, "code")
        bounds.check_count(self.args, "args", MAX_ARGS)
        bounds.check_count(self.wanted, "wanted variables", MAX_VARIABLES)
        bounds.check_number(self.timeout_s, "timeout_s", 0.001, MAX_TIMEOUT_S)
        bounds.check_env(self.env)
        if self.event is not None and not isinstance(self.event, Mapping):
            raise InvalidRequest(f"the event must be an object, not {type(self.event).__name__}")
        if self.terminal is not None and self.kind is not ExecutionKind.command:
            raise InvalidRequest("commands alone run on a terminal: set kind to command")
        if (self.kind is ExecutionKind.cell) != bool(self.context):
            raise InvalidRequest("a cell names the context it runs in, and nothing else does: set kind to cell, or context to ''")

    def event_json(self) -> str | None:
        if self.event is None:
            return None
        try:
            return json.dumps(self.event, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidRequest(f"the event cannot be told as JSON: {error}") from error
