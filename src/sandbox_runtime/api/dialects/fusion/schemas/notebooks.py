"""The messages of /run_jupyter as they are on the wire."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from sandbox_runtime.api.dialects.fusion.schemas.programs import NO_LIMIT, CommandRunResult, RunStatus, Seconds
from sandbox_runtime.api.number_fields import Number, RequestModel


class RunJupyterRequest(RequestModel):
    cells: list[str] = Field(description="the code of each cell, in order")
    cell_timeout: Number = Field(0, ge=0, description="timeout of each cell in seconds; 0: none of its own")
    total_timeout: Seconds = Field(45, description="timeout of all cells together in seconds")
    memory_limit_MB: int = Field(
        NO_LIMIT, ge=-(2**31), le=2**31, description="memory limit in MiB; 0 or less: the server's ceiling"
    )
    kernel: Literal["python3"] = Field("python3", description="the kernel that runs the cells")
    files: dict[str, str | None] = Field({}, description="path → base64 of the content")
    fetch_files: list[str] = Field([], description="paths to return after the last cell")


class CellFailure(BaseModel):
    ename: str
    evalue: str
    traceback: list[str]


class CellRunResult(BaseModel):
    stdout: str
    stderr: str
    display: list[dict[str, Any]] = Field(description="what each display_data and execute_result showed: media type → data")
    error: list[CellFailure]


class RunJupyterResponse(BaseModel):
    status: RunStatus
    message: str
    driver: CommandRunResult | None
    cells: list[CellRunResult]
    executor_pod_name: str | None
    files: dict[str, str]
    skipped_files: dict[str, str] = Field(description="files that exist but are over a bound, and which")
    partial_cells: list[CellRunResult] = Field(description="where the notebook did not finish: the cells that did")
