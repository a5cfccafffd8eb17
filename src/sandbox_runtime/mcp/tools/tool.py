"""What a tool is, and what it is given and gives back. The words of the protocol are the server's business."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from sandbox_runtime.api.number_fields import RequestModel
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.port import SandboxHost, Sink


class Arguments(RequestModel, BaseModel):
    """What a tool takes. A name that it does not have is an error: a misspelt one would otherwise be ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Result(BaseModel):
    """What a tool tells in figures, beside its text."""

    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True, slots=True)
class Image:
    media_type: str
    base64: str


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """error: one of the documented codes, where it failed; empty where all went well."""

    text: str
    result: Result | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool works with: where sandboxes are, and where a program's output goes while it runs. cacheable: what it runs may
    be answered with what was printed before."""

    host: SandboxHost
    config: McpConfig
    sink: Sink | None = None
    cacheable: bool = False


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """hints: of the protocol's annotations (readOnlyHint, destructiveHint, …)."""

    name: str
    title: str
    description: str
    arguments_model: type[A]
    result_model: type[Result]
    run: Callable[[ToolContext, A], Awaitable[ToolResponse]]
    hints: Mapping[str, bool] = field(default_factory=dict)


AnyTool = Tool[Any]
