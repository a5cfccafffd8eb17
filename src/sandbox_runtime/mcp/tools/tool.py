"""Tool, its context, arguments and response, independent of the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from sandbox_runtime.api.number_fields import RequestModel
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.port import SandboxHost, Sink


class Arguments(RequestModel, BaseModel):
    """Arguments of a tool. Unknown names are errors, so that a misspelt one is not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Result(BaseModel):
    """Structured result of a tool."""

    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True, slots=True)
class Image:
    media_type: str
    base64: str


@dataclass(frozen=True, slots=True)
class ToolResponse:
    text: str
    result: Result | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    """A documented error code; empty on success."""
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolContext:
    host: SandboxHost
    config: McpConfig
    sink: Sink | None = None
    """Receives output while a program runs."""
    cacheable: bool = False
    """The result of an earlier run may be returned."""


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    name: str
    title: str
    description: str
    arguments_model: type[A]
    result_model: type[Result]
    run: Callable[[ToolContext, A], Awaitable[ToolResponse]]
    hints: Mapping[str, bool] = field(default_factory=dict)
    """Protocol annotations: readOnlyHint, destructiveHint, …"""


AnyTool = Tool[Any]
