"""The messages as they are on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from sandbox_runtime.api.number_fields import Number, RequestModel
from sandbox_runtime.quantities import KIB, parse_bytes, parse_cpu

DEFAULT_SIZE = "100M"
HANDLER_CHARACTERS = 102_400
MOST_EFAST_FILES = 100
PREFIX = "/workspace/se"

Json = dict[str, Any]
Seconds = Annotated[Number, Field(gt=0, le=3600)]


def _is_size(value: object) -> object:
    if value is not None:
        parse_bytes(value, unit=KIB)
    return value


def _is_cpu(value: object) -> object:
    parse_cpu(value)
    return value


Cores = Annotated[float, Field(gt=0, le=4096, allow_inf_nan=False), BeforeValidator(_is_cpu)]
Words = Annotated[list[str], Field(max_length=1000)]


class CreateSession(RequestModel):
    size: str = Field(DEFAULT_SIZE, max_length=20, description="room for files, as 50M, 1G or a number of bytes")
    allow_network: bool | None = Field(None, description="null: as the server is set")
    cpu_quota: Cores | None = Field(None, description="cores")
    memory_limit: Annotated[int | str | None, BeforeValidator(_is_size)] = Field(
        None, description="KB as a number, or a text as 256M"
    )
    timeout: Seconds | None = Field(None, description="seconds an execution may take that says nothing itself")


class ExecuteCode(RequestModel):
    code: str = Field(description="a script; a handler that it defines is called with the event")
    filename: str | None = Field(None, description="where the script is saved; the extension is added where it is missing")
    args: Words | None = None
    script_type: Literal["python", "shell"] = "python"
    output_params: Annotated[list[str], Field(max_length=100)] | None = Field(
        None, description="global variables to return; a handler is not called then"
    )
    event: Json = Field({}, description="what a handler is called with")
    timeout: Seconds | None = Field(None, description="seconds; null: as the session says")


class Execute(RequestModel):
    """A command, or a handler: one of command and code."""

    command: str | None = Field(None, min_length=1, description="a line for the shell, or with args a program")
    args: Words | None = None
    code: str | None = Field(None, max_length=HANDLER_CHARACTERS, description="code that defines a handler")
    event: Json = Field({}, description="what the handler is called with")
    timeout: Seconds | None = Field(None, description="seconds; null: as the session says")

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.command is None) == (self.code is None):
            raise ValueError("give either a command or code with a handler")
        return self


class CreateFile(RequestModel):
    content: str
    filename: str = Field(min_length=1)
    mode: int = Field(0o644, ge=0, le=0o777, description="permission bits")


class CleanUp(BaseModel):
    force: bool = Field(False, description="also sessions in which something runs")


class EfastFile(BaseModel):
    docid: str = Field(min_length=1, max_length=2048)
    rev: str | None = Field(None, max_length=256)
    savename: str | None = Field(None, max_length=1024)


class DownloadFromEfast(BaseModel):
    file_params: Annotated[list[EfastFile], Field(min_length=1, max_length=MOST_EFAST_FILES)]
    efast_url: str | None = Field(None, max_length=2048, description="must be the server that the operator set")
    save_path: str | None = Field(None, max_length=4096, description="folder in the workspace")
    token: str | None = Field(None, max_length=8192)
    timeout: Seconds | None = None


class ExecuteHandler(BaseModel):
    handler_code: str = Field(min_length=1, max_length=HANDLER_CHARACTERS)
    event: Json = {}
    context: Json = Field({}, description="further fields of the context, or others in place of the usual ones")


class Metrics(BaseModel):
    duration_ms: float
    memory_peak_mb: float | None
    cpu_time_ms: float | None


class HandlerMetrics(Metrics):
    timeout_seconds: float


class HandlerAnswer(BaseModel):
    stdout: str
    stderr: str
    result: Any
    metrics: HandlerMetrics


class Fault(BaseModel):
    code: str
    message: str


class Answer(BaseModel):
    """The envelope; the fields of data stand beside it as well."""

    success: bool
    data: Any
    error: Fault | None
    result: Any = Field(None, description="the handler's value where one was called, otherwise as data")
    full_result: Any = None


class Failed(Answer):
    detail: Any = Field(description="what went wrong, in the words of the older form")


class HandlerFailed(BaseModel):
    """The same fields stand below detail."""

    detail: Any
    error_code: str = Field(description="as Sandbox.ExecTimeout")
    description: str
    error_detail: Any
    solution: str = Field(description="what to do about it")


class Executed(Answer):
    stdout: str
    stderr: str
    returncode: int
    exit_code: int
    execution_time: float = Field(description="seconds")
    metrics: Metrics
    execution_id: str
    output_variables: Json | None = None
