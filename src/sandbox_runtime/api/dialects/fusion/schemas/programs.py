"""Bodies of /run_code."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from sandbox_runtime.api.number_fields import Number, RequestModel

PROTOCOL_LANGUAGES = (
    "python", "cpp", "nodejs", "go", "go_test", "java", "php", "csharp", "bash", "typescript", "sql", "rust", "cuda", "lua",
    "R", "perl", "D_ut", "ruby", "scala", "julia", "pytest", "junit", "kotlin_script", "jest", "verilog", "python_gpu", "lean",
    "swift", "racket",
)  # fmt: skip
"""A constant of the protocol, in its order. All other names of the catalog are accepted too; aliases are not."""

RunStatus = Literal["Success", "Failed", "SandboxError"]
CommandRunStatus = Literal["Finished", "Error", "TimeLimitExceeded"]

Seconds = Annotated[Number, Field(gt=0)]
NO_LIMIT = -1
"""Means the highest limit that the server allows."""


class RunCodeRequest(RequestModel):
    compile_timeout: Seconds = Field(10, description="compile timeout in seconds")
    run_timeout: Seconds = Field(10, description="run timeout in seconds")
    memory_limit_MB: int = Field(
        NO_LIMIT, ge=-(2**31), le=2**31, description="memory limit in MiB; 0 or less: the highest that the server allows"
    )
    code: str = Field(description="source of the program")
    stdin: str | None = Field(None, description="standard input; null: empty")
    language: str = Field(description="language of the program", json_schema_extra={"enum": list(PROTOCOL_LANGUAGES)})
    files: dict[str, str | None] = Field({}, description="files to create: path → base64 of the content")
    fetch_files: list[str] = Field([], description="paths to return after the run")


class RunUsage(BaseModel):
    wall_s: float
    cpu_user_s: float
    cpu_system_s: float
    memory_peak_bytes: int | None
    processes_peak: int | None
    output_bytes: int


class AppliedLimits(BaseModel):
    """Limits of the command, with the server's defaults for those that the request left out."""

    wall_s: float
    memory_bytes: int | None


class RunDetails(BaseModel):
    """Facts for which the protocol has no field."""

    ending: str
    blame: str
    signal: int | None
    message: str
    isolation: str
    stdout_dropped_bytes: int
    stderr_dropped_bytes: int
    usage: RunUsage
    limits: AppliedLimits | None


class CommandRunResult(BaseModel):
    status: CommandRunStatus
    execution_time: float | None
    return_code: int | None
    stdout: str | None
    stderr: str | None
    details: RunDetails


class RunCodeResponse(BaseModel):
    status: RunStatus
    message: str
    compile_result: CommandRunResult | None
    run_result: CommandRunResult | None
    executor_pod_name: str | None
    files: dict[str, str]
    skipped_files: dict[str, str] = Field(description="files that exist but exceed a limit: path → reason")


Json = dict[str, Any]
