"""Bodies of the routes of tools, resources and prompts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from sandbox_runtime.api.dialects.sandboxes.schemas.base import Json, ResponseModel, Seconds, StrictRequestModel
from sandbox_runtime.api.number_fields import Number

ToolCallStatus = Literal["running", "completed", "failed", "cancelled"]


class RetryPolicy(StrictRequestModel):
    max_retries: Annotated[int, Field(ge=0, le=10)] = 0
    initial_delay: Annotated[Number, Field(ge=0, le=60)] = 0.5
    backoff_factor: Annotated[Number, Field(ge=1, le=10)] = 2.0
    max_delay: Annotated[Number, Field(ge=0, le=300)] = 30.0


class ToolOptions(StrictRequestModel):
    timeout: Seconds = 300.0
    async_: Annotated[
        bool, Field(alias="async", description="Respond at once, with an execution_id to fetch the result with.")
    ] = False
    stream: Annotated[bool, Field(description="Respond with server-sent events. Cannot be combined with async.")] = False
    retry_policy: RetryPolicy = RetryPolicy()


class ExecuteToolRequest(StrictRequestModel):
    arguments: Json = Field({})
    options: ToolOptions = ToolOptions()


class ToolResult(ResponseModel):
    result: Any = Field(None, description="Missing while the call is running.")
    is_error: bool
    status: ToolCallStatus
    execution_id: str | None = Field(None, description="Only for calls with async.")
    duration: float
    timestamp: str
    metadata: dict[str, Any] | None = None


class McpObject(ResponseModel):
    """A tool, resource or prompt, with the fields of the Model Context Protocol."""

    model_config = ConfigDict(extra="allow", frozen=True)
