"""create_sandbox, list_sandboxes, terminate_sandbox."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Field

from sandbox_runtime.errors import Conflict, InvalidRequest
from sandbox_runtime.mcp.config.model import is_known_image, unknown_image_error
from sandbox_runtime.mcp.hosts.port import WORKSPACE, SandboxSpec, SandboxView
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.arguments import Environment, SandboxId, new_id
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Result, Tool, ToolContext, ToolResponse
from sandbox_runtime.quantities import MIB, InvalidQuantity, parse_bytes, parse_cpu

STATUS_OF_STATE = {
    "creating": "creating",
    "running": "running",
    "paused": "paused",
    "completed": "stopped",
    "terminated": "terminated",
    "failed": "error",
    "timeout": "error",
}
_SIZE = r"^\d+(\.\d+)?[KMGT]?B?$"
_Size = Annotated[str | None, Field(pattern=_SIZE, max_length=40)]
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class CreateArguments(Arguments):
    image: Annotated[
        str | None,
        Field(
            max_length=512,
            description="A common image name such as python:3.12. It has no effect: every sandbox has all languages of its host.",
        ),
    ] = None
    workspace_dir: Annotated[str, Field(max_length=1024, description="Folder of the files; always /workspace.")] = WORKSPACE
    environment: Environment = Field(default_factory=dict)
    cpu_limit: Annotated[str | None, Field(pattern=r"^\d+(\.\d+)?$", max_length=20, description="Cores, such as 0.5 or 2.")] = (
        None
    )
    memory_limit: _Size = Field(default=None, description="Such as 512M or 1G.")
    disk_limit: _Size = Field(default=None, description="Such as 1G.")
    network_mode: Annotated[Literal["none", "bridge", "host"] | None, Field(description="none: no network at all.")] = None


class NoArguments(Arguments):
    pass


class TerminateArguments(Arguments):
    sandbox_id: SandboxId


class SandboxResult(Result):
    sandbox_id: str
    container_id: str
    status: str
    working_dir: str
    created_at: str
    config: dict[str, object]


class SandboxSummary(Result):
    id: str
    container_id: str
    status: str
    created_at: str
    updated_at: str


class SandboxList(Result):
    count: int
    sandboxes: list[SandboxSummary]


class TerminateResult(Result):
    sandbox_id: str
    status: str = "terminated"


def container_id(sandbox_id: str) -> str:
    return f"sandbox-{sandbox_id[:8]}"


def is_sandbox(name: str) -> bool:
    """Whether a session of the host is a sandbox: its id is a UUID."""
    return _UUID.fullmatch(name) is not None


def to_sandbox_result(view: SandboxView, image: str) -> SandboxResult:
    config = {
        "image": image,
        "workspace_dir": WORKSPACE,
        "environment": dict(view.env),
        "cpu_limit": f"{view.cpu_cores:g}",
        "memory_limit": view.memory_bytes,
        "disk_limit": view.disk_bytes,
        "network_mode": "bridge" if view.network == "nat" else "none",
    }
    return SandboxResult(
        sandbox_id=view.id,
        container_id=container_id(view.id),
        status=STATUS_OF_STATE.get(view.state, view.state),
        working_dir=WORKSPACE,
        created_at=iso_time(view.created_ms),
        config=config,
    )


def iso_time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")


async def create(ctx: ToolContext, arguments: CreateArguments) -> ToolResponse:
    if arguments.workspace_dir.rstrip("/") != WORKSPACE:
        raise InvalidRequest(f"workspace_dir must be {WORKSPACE}, or omitted")
    settings = ctx.config.sandbox
    if arguments.image is not None and not is_known_image(arguments.image):
        raise error_codes.ToolFailure(error_codes.IMAGE_NOT_FOUND, unknown_image_error(arguments.image))
    view = await ctx.host.create(_spec(arguments, ctx))
    result = to_sandbox_result(view, arguments.image or settings.default_image)
    metadata = {"sandbox_id": result.sandbox_id, "container_id": result.container_id}
    return ToolResponse(f"Sandbox created successfully\n{result.model_dump_json(indent=2)}", result, metadata)


def _spec(arguments: CreateArguments, ctx: ToolContext) -> SandboxSpec:
    """Return the spec. The configured PATH is left out, because the host's toolchains need their own."""
    settings = ctx.config.sandbox
    env = {name: value for name, value in settings.environment.items() if name != "PATH"}
    network = arguments.network_mode or settings.network_mode
    return SandboxSpec(
        id=new_id(),
        env={**env, **arguments.environment},
        cpu_cores=_cores(arguments.cpu_limit),
        memory_bytes=_bytes(arguments.memory_limit, "memory_limit"),
        disk_bytes=_bytes(arguments.disk_limit, "disk_limit"),
        network="none" if network == "none" else "nat",
    )


def _cores(text: str | None) -> float | None:
    try:
        return None if text is None else parse_cpu(text, "cpu_limit")
    except InvalidQuantity as error:
        raise error_codes.ToolFailure(error_codes.INVALID_LIMITS, str(error)) from error


def _bytes(text: str | None, name: str) -> int | None:
    try:
        return None if text is None else parse_bytes(text, name, low=4 * MIB)
    except InvalidQuantity as error:
        raise error_codes.ToolFailure(error_codes.INVALID_LIMITS, str(error)) from error


async def list_all(ctx: ToolContext, _arguments: NoArguments) -> ToolResponse:
    views = [view for view in await ctx.host.list() if is_sandbox(view.id)]
    lines = [
        SandboxSummary(
            id=view.id,
            container_id=container_id(view.id),
            status=STATUS_OF_STATE.get(view.state, view.state),
            created_at=iso_time(view.created_ms),
            updated_at=iso_time(view.updated_ms),
        )
        for view in views
    ]
    result = SandboxList(count=len(lines), sandboxes=lines)
    listed = json.dumps([line.model_dump() for line in lines], indent=2)
    text = f"Found {len(lines)} active sandboxes\n{listed}" if lines else "No active sandboxes found"
    return ToolResponse(text, result, result.model_dump())


async def terminate(ctx: ToolContext, arguments: TerminateArguments) -> ToolResponse:
    sandbox_id = arguments.sandbox_id.lower()
    view = await ctx.host.get(sandbox_id)
    if view.state not in ("creating", "running", "paused"):
        raise Conflict(f"the sandbox {sandbox_id} has already ended")
    await ctx.host.terminate(sandbox_id)
    return ToolResponse(
        f"Sandbox {sandbox_id} terminated successfully", TerminateResult(sandbox_id=sandbox_id), {"sandbox_id": sandbox_id}
    )


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "create_sandbox",
        "Create a sandbox",
        "Creates an isolated sandbox that runs commands and code in many languages, and returns its sandbox_id. Its files, in "
        "/workspace, stay until it is terminated. It has no network unless network_mode requests one and the host allows it.",
        CreateArguments,
        SandboxResult,
        create,
        {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False},
    ),
    Tool(
        "list_sandboxes",
        "List sandboxes",
        "Lists all live sandboxes.",
        NoArguments,
        SandboxList,
        list_all,
        {"readOnlyHint": True},
    ),
    Tool(
        "terminate_sandbox",
        "Terminate a sandbox",
        "Terminates a sandbox and everything that runs in it, and deletes its files.",
        TerminateArguments,
        TerminateResult,
        terminate,
        {"readOnlyHint": False, "destructiveHint": True},
    ),
)
