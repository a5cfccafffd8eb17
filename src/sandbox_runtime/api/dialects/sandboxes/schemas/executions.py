"""Bodies of the routes that run commands and programs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from sandbox_runtime.api.dialects.sandboxes.schemas.base import (
    Environment,
    Path,
    ResponseModel,
    Seconds,
    StrictRequestModel,
    Text,
)


class ExecRequest(StrictRequestModel):
    command: Annotated[
        str, Field(min_length=1, max_length=65_536, description="Without args, it is split into words. No shell is used.")
    ]
    args: Annotated[list[Text] | None, Field(max_length=1000)] = None
    environment: Environment = Field({})
    working_dir: Path = "/workspace"
    timeout: Seconds = 30.0
    stream: Annotated[bool, Field(description="Respond at once, with a stream_id at which the output can be followed.")] = False
    input: Text | None = None


class ExecResult(ResponseModel):
    exit_code: int | None = Field(None, description="128 plus the signal if a signal ended the program; -1 if it has none.")
    stdout: str = ""
    stderr: str = ""
    duration: float = Field(0.0, description="Seconds.")
    timestamp: str
    status: str
    error: str | None = None
    stream_id: str | None = None


class CodeRequest(StrictRequestModel):
    code: Annotated[str, StringConstraints(min_length=1, max_length=1024 * 1024)]
    language: Annotated[str | None, Field(max_length=32, description="Detected from the code if missing.")] = None
    filename: Annotated[str | None, Field(max_length=255, description="Where to save the program. Python only.")] = None
    environment: Environment = Field({})
    packages: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=200)]],
        Field(
            max_length=50,
            description="Packages to install first, as the package manager of the language writes them: requests==2.32.3.",
        ),
    ] = Field([])
    timeout: Seconds = 30.0
    stream: bool = False
    input: Text | None = None


class CodeResult(ResponseModel):
    output: str = ""
    error: str | None = Field(None, description="stderr; if that is empty, why the program did not finish.")
    exit_code: int | None = None
    language: str
    duration: float = Field(0.0, description="Seconds.")
    timestamp: str
    status: str
    stream_id: str | None = None
