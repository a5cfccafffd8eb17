"""What is to be run in a home, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.engine.handlers import HandlerContext, HandlerResult
from sandbox_runtime.engine.terminals import Terminal
from sandbox_runtime.model import ExecutionKind, Limits, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """kind: code, handler or command; cells belong to contexts. code of a command is a shell's line, or with args a program to
    start. filename: the program is kept in the workspace under this name; otherwise nothing of it stays. wanted: global variables
    whose values are to be told when a Python script is done. call_found: a handler that a script defines is called with the
    event. modules: folders of packages that were installed for it. terminal: a command runs on it; without
    code, a shell does."""

    kind: ExecutionKind
    code: str
    limits: Limits
    language: str = "python"
    args: tuple[str, ...] = ()
    stdin: bytes | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    filename: str = ""
    event: Mapping[str, Any] = field(default_factory=dict)
    context: HandlerContext = field(default_factory=lambda: HandlerContext("", ""))
    call_handler: bool = False
    variables: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    terminal: Terminal | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """outcome: of the last step that was taken; compile: of the step before it, where there was one. told: what a handler or a
    script said beside its output."""

    outcome: Outcome
    compile: Outcome | None = None
    handler_result: HandlerResult | None = None
