"""What runs in an environment, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.engine.handlers.result import HandlerResult
from sandbox_runtime.engine.handlers.rules import HandlerContext
from sandbox_runtime.engine.terminals.terminal import Terminal
from sandbox_runtime.model.execution import ExecutionKind
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One thing to run: code, a handler or a command. Cells belong to contexts."""

    kind: ExecutionKind
    code: str
    """Of a command: a shell command line, or with `args` the program to start."""
    limits: Limits
    language: str = "python"
    args: tuple[str, ...] = ()
    stdin: bytes | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    filename: str = ""
    """Keep the program in the workspace under this name; empty: it is removed."""
    event: Mapping[str, Any] = field(default_factory=dict)
    context: HandlerContext = field(default_factory=lambda: HandlerContext("", ""))
    call_handler: bool = False
    """Call the handler that a script defines, if any, with the event."""
    variables: tuple[str, ...] = ()
    """Global variables of a Python script to return."""
    modules: tuple[str, ...] = ()
    """Folders of packages that were installed for it."""
    terminal: Terminal | None = None
    """Run the command, or without code a shell, on this terminal."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """Result of a request."""

    outcome: Outcome
    """Of the last step that ran."""
    compile: Outcome | None = None
    """Of the compile step before it, if there was one."""
    handler_result: HandlerResult | None = None
    """What a handler or script returned."""
