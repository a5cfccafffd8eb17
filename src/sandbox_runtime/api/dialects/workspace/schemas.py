"""Bodies of requests and responses."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from sandbox_runtime.api.number_fields import Number, RequestModel
from sandbox_runtime.quantities import KIB, parse_bytes, parse_cpu

DEFAULT_SIZE = "100M"
MAX_HANDLER_CHARACTERS = 102_400
MAX_EFAST_FILES = 100
PREFIX = "/workspace/se"

Json = dict[str, Any]
Seconds = Annotated[Number, Field(gt=0, le=3600)]


def _check_size(value: object) -> object:
    if value is not None:
        parse_bytes(value, unit=KIB)
    return value


def _check_cpu(value: object) -> object:
    parse_cpu(value)
    return value


Cores = Annotated[float, Field(gt=0, le=4096, allow_inf_nan=False), BeforeValidator(_check_cpu)]
Arguments = Annotated[list[str], Field(max_length=1000)]


class WorkspaceSessionRequest(RequestModel):
    size: str = Field(DEFAULT_SIZE, max_length=20, description="disk space for files: 50M, 1G or a number of bytes")
    allow_network: bool | None = Field(None, description="null: the server's default")
    cpu_quota: Cores | None = Field(None, description="number of CPU cores")
    memory_limit: Annotated[int | str | None, BeforeValidator(_check_size)] = Field(
        None, description="a number of KB, or text such as 256M"
    )
    timeout: Seconds | None = Field(None, description="default timeout of executions in seconds")


class ScriptRequest(RequestModel):
    code: str = Field(description="the script; if it defines a handler, the handler is called with the event")
    filename: str | None = Field(None, description="where to save the script; a missing extension is added")
    args: Arguments | None = None
    script_type: Literal["python", "shell"] = "python"
    output_params: Annotated[list[str], Field(max_length=100)] | None = Field(
        None, description="global variables to return; a handler is not called then"
    )
    event: Json = Field({}, description="argument of the handler")
    timeout: Seconds | None = Field(None, description="seconds; null: the session's timeout")


class CommandRequest(RequestModel):
    """A command, or code with a handler: exactly one of `command` and `code`."""

    command: str | None = Field(None, min_length=1, description="a shell command line; with args, a program to start")
    args: Arguments | None = None
    code: str | None = Field(None, max_length=MAX_HANDLER_CHARACTERS, description="code that defines a handler")
    event: Json = Field({}, description="argument of the handler")
    timeout: Seconds | None = Field(None, description="seconds; null: the session's timeout")

    @model_validator(mode="after")
    def _check_exactly_one(self) -> Self:
        if (self.command is None) == (self.code is None):
            raise ValueError("send either command or code, not both")
        return self


class CreateFileRequest(RequestModel):
    content: str
    filename: str = Field(min_length=1)
    mode: int = Field(0o644, ge=0, le=0o777, description="permission bits")


class CleanUpRequest(BaseModel):
    force: bool = Field(False, description="also end sessions with running executions")


class EfastFile(BaseModel):
    docid: str = Field(min_length=1, max_length=2048)
    rev: str | None = Field(None, max_length=256)
    savename: str | None = Field(None, max_length=1024)


class EfastDownloadRequest(RequestModel):
    file_params: Annotated[list[EfastFile], Field(min_length=1, max_length=MAX_EFAST_FILES)]
    efast_url: str | None = Field(None, max_length=2048, description="must be the server that the operator configured")
    save_path: str | None = Field(None, max_length=4096, description="folder in the workspace")
    token: str | None = Field(None, max_length=8192)
    timeout: Seconds | None = None


class HandlerRequest(BaseModel):
    handler_code: str = Field(min_length=1, max_length=MAX_HANDLER_CHARACTERS)
    event: Json = {}
    context: Json = Field({}, description="fields to add to the context, or to replace in it")


class WorkspaceExecutionMetrics(BaseModel):
    duration_ms: float
    memory_peak_mb: float | None
    cpu_time_ms: float | None


class HandlerMetrics(WorkspaceExecutionMetrics):
    timeout_seconds: float


class HandlerResponse(BaseModel):
    stdout: str
    stderr: str
    result: Any
    metrics: HandlerMetrics


class WorkspaceError(BaseModel):
    code: str
    message: str


class WorkspaceResponse(BaseModel):
    """The envelope. The fields of `data` are repeated beside it."""

    success: bool
    data: Any
    error: WorkspaceError | None
    result: Any = Field(None, description="the handler's value if one was called, otherwise the same as data")
    full_result: Any = None


class WorkspaceErrorResponse(WorkspaceResponse):
    detail: Any = Field(description="the error in the older form of the protocol")


class HandlerErrorResponse(BaseModel):
    """The fields are repeated below `detail`."""

    detail: Any
    error_code: str = Field(description="for example Sandbox.ExecTimeout")
    description: str
    error_detail: Any
    solution: str = Field(description="how to fix it")


class WorkspaceExecutionResponse(WorkspaceResponse):
    stdout: str
    stderr: str
    returncode: int
    exit_code: int
    execution_time: float = Field(description="seconds")
    metrics: WorkspaceExecutionMetrics
    execution_id: str
    output_variables: Json | None = None
