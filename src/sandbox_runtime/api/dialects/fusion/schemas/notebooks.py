"""Bodies of /run_jupyter."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from sandbox_runtime.api.dialects.fusion.schemas.programs import NO_LIMIT, CommandRunResult, RunStatus, Seconds
from sandbox_runtime.api.number_fields import Number, RequestModel


class RunJupyterRequest(RequestModel):
    cells: list[str] = Field(description="code of the cells, in order")
    cell_timeout: Number = Field(0, ge=0, description="timeout of each cell in seconds; 0: only total_timeout applies")
    total_timeout: Seconds = Field(45, description="timeout of all cells together in seconds")
    memory_limit_MB: int = Field(
        NO_LIMIT, ge=-(2**31), le=2**31, description="memory limit in MiB; 0 or less: the highest that the server allows"
    )
    kernel: Literal["python3"] = Field("python3", description="the kernel that runs the cells")
    files: dict[str, str | None] = Field({}, description="files to create: path → base64 of the content")
    fetch_files: list[str] = Field([], description="paths to return after the last cell")


class CellError(BaseModel):
    ename: str
    evalue: str
    traceback: list[str]


class CellRunResult(BaseModel):
    stdout: str
    stderr: str
    display: list[dict[str, Any]] = Field(description="one entry per display_data and execute_result: media type → data")
    error: list[CellError]


class RunJupyterResponse(BaseModel):
    status: RunStatus
    message: str
    driver: CommandRunResult | None
    cells: list[CellRunResult]
    executor_pod_name: str | None
    files: dict[str, str]
    skipped_files: dict[str, str] = Field(description="files that exist but exceed a limit: path → reason")
    partial_cells: list[CellRunResult] = Field(description="the cells that finished, if the notebook did not")
