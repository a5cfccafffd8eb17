"""Arguments shared by several tools, with their limits."""

from __future__ import annotations

import posixpath
import uuid
from typing import Annotated, Literal

from pydantic import Field

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.hosts.port import WORKSPACE

MIN_TIMEOUT_S, MAX_TIMEOUT_S = 1, 300
MAX_CODE_CHARACTERS = 1024 * 1024
_UUID = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"

SandboxId = Annotated[str, Field(pattern=_UUID, description="Id of the sandbox, as returned by create_sandbox (a UUID).")]
Timeout = Annotated[int | None, Field(ge=MIN_TIMEOUT_S, le=MAX_TIMEOUT_S, description="Timeout in seconds, 1 to 300.")]
Environment = Annotated[
    dict[str, Annotated[str, Field(max_length=32_768)]],
    Field(max_length=256, description="Environment variables, by name."),
]
WorkingDir = Annotated[
    str, Field(min_length=1, max_length=1024, description="Folder to run in, under /workspace or /tmp.", examples=["/workspace"])
]
CacheFlag = Annotated[
    bool,
    Field(
        description="Set this if the output depends on the sandbox's files only. Then the output of an earlier run may be "
        "returned, if no file of the sandbox has changed since.",
    ),
]
Code = Annotated[
    str, Field(min_length=1, max_length=MAX_CODE_CHARACTERS, description="The whole program, at most 1 MiB; not blank.")
]
FilePath = Annotated[str, Field(min_length=1, max_length=4096, description="Path of a file below /workspace, or relative to it.")]
LanguageName = Literal["python", "javascript", "typescript", "go", "rust", "java", "cpp", "csharp", "shell"]
Encoding = Annotated[Literal["utf8", "base64"], Field(description="Encoding of the content.")]


def new_id() -> str:
    return str(uuid.uuid4())


def resolve_folder(working_dir: str) -> str:
    """Return the absolute path. Raises InvalidRequest for a folder outside /workspace and /tmp."""
    path = posixpath.normpath(posixpath.join(WORKSPACE, working_dir))
    if not any(path == root or path.startswith(f"{root}/") for root in (WORKSPACE, "/tmp")):
        raise InvalidRequest(f"working_dir must be under {WORKSPACE} or /tmp, not {working_dir[:200]!r}")
    return path


def resolve_name(path: str) -> str:
    """Return the path relative to the workspace. Raises InvalidRequest for a path outside of it."""
    if "\0" in path:
        raise InvalidRequest("a path must not contain NUL characters")
    full_path = posixpath.normpath(posixpath.join(WORKSPACE, path))
    if full_path != WORKSPACE and not full_path.startswith(f"{WORKSPACE}/"):
        raise InvalidRequest(f"the path must be below {WORKSPACE}, not {path[:200]!r}")
    return full_path.removeprefix(WORKSPACE).lstrip("/")


def resolve_file(path: str) -> str:
    name = resolve_name(path)
    if not name:
        raise InvalidRequest(f"{path[:200]!r} is not a file name; use a path such as {WORKSPACE}/data.txt")
    return name


def check_code(code: str) -> None:
    if not code.strip():
        raise InvalidRequest("the code is blank")
    if len(code.encode(errors="surrogatepass")) > MAX_CODE_CHARACTERS:
        raise InvalidRequest(f"the code has more than {MAX_CODE_CHARACTERS} bytes")
