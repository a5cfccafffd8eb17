"""The messages as they are on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from sandbox_runtime.api.number_fields import Number, RequestModel

LANGUAGES = (
    "python", "cpp", "nodejs", "go", "go_test", "java", "php", "csharp", "bash", "typescript", "sql", "rust", "cuda", "lua",
    "R", "perl", "D_ut", "ruby", "scala", "julia", "pytest", "junit", "kotlin_script", "jest", "verilog", "python_gpu", "lean",
    "swift", "racket",
)  # fmt: skip
"""The protocol's own, in its order. Every other name of the catalog is taken as well; aliases are not."""

RunStatus = Literal["Success", "Failed", "SandboxError"]
CommandRunStatus = Literal["Finished", "Error", "TimeLimitExceeded"]

Seconds = Annotated[Number, Field(gt=0)]
NO_LIMIT = -1


class RunCodeRequest(RequestModel):
    compile_timeout: Seconds = Field(10, description="compile timeout in seconds")
    run_timeout: Seconds = Field(10, description="run timeout in seconds")
    memory_limit_MB: int = Field(
        NO_LIMIT, ge=-(2**31), le=2**31, description="memory limit in MiB; 0 or less: the server's ceiling"
    )
    code: str = Field(description="the program")
    stdin: str | None = Field(None, description="standard input; null: empty")
    language: str = Field(description="the language of the program", json_schema_extra={"enum": list(LANGUAGES)})
    files: dict[str, str | None] = Field({}, description="path → base64 of the content")
    fetch_files: list[str] = Field([], description="paths to return after the run")


class Usage(BaseModel):
    wall_s: float
    cpu_user_s: float
    cpu_system_s: float
    memory_peak_bytes: int | None
    processes_peak: int | None
    output_bytes: int


class GivenLimits(BaseModel):
    """What the command was held to, whatever the request left open."""

    wall_s: float
    memory_bytes: int | None


class Details(BaseModel):
    """What the protocol has no field for."""

    ending: str
    blame: str
    signal: int | None
    message: str
    isolation: str
    stdout_dropped_bytes: int
    stderr_dropped_bytes: int
    usage: Usage
    limits: GivenLimits | None


class CommandRunResult(BaseModel):
    status: CommandRunStatus
    execution_time: float | None
    return_code: int | None
    stdout: str | None
    stderr: str | None
    details: Details


class RunCodeResponse(BaseModel):
    status: RunStatus
    message: str
    compile_result: CommandRunResult | None
    run_result: CommandRunResult | None
    executor_pod_name: str | None
    files: dict[str, str]
    skipped_files: dict[str, str] = Field(description="files that exist but are over a bound, and which")


Json = dict[str, Any]
