"""Arguments that several tools share, with their bounds."""

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

SandboxId = Annotated[str, Field(pattern=_UUID, description="Id of the sandbox, as create_sandbox told it (a UUID).")]
Timeout = Annotated[
    int | None, Field(ge=MIN_TIMEOUT_S, le=MAX_TIMEOUT_S, description="Seconds after which it is stopped, 1 to 300.")
]
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
        description="Say that it prints the same for the same files. Then what it printed before may be told again, where no "
        "file of the sandbox has changed since.",
    ),
]
Code = Annotated[
    str, Field(min_length=1, max_length=MAX_CODE_CHARACTERS, description="The whole program, at most 1 MB; not blank.")
]
FilePath = Annotated[
    str, Field(min_length=1, max_length=4096, description="A file of the sandbox: below /workspace, or relative to it.")
]
LanguageName = Literal["python", "javascript", "typescript", "go", "rust", "java", "cpp", "csharp", "shell"]
Encoding = Annotated[Literal["utf8", "base64"], Field(description="How the content is written.")]


def new_id() -> str:
    return str(uuid.uuid4())


def resolve_folder(working_dir: str) -> str:
    """An absolute folder under /workspace or /tmp."""
    path = posixpath.normpath(posixpath.join(WORKSPACE, working_dir))
    if not any(path == root or path.startswith(f"{root}/") for root in (WORKSPACE, "/tmp")):
        raise InvalidRequest(f"working_dir must be under {WORKSPACE} or /tmp, not {working_dir[:200]!r}")
    return path


def resolve_name(path: str) -> str:
    """A file's name below the workspace. Names that lead out of it are refused."""
    if "\0" in path:
        raise InvalidRequest("a path cannot hold NUL characters")
    whole = posixpath.normpath(posixpath.join(WORKSPACE, path))
    if whole != WORKSPACE and not whole.startswith(f"{WORKSPACE}/"):
        raise InvalidRequest(f"paths are below {WORKSPACE}; {path[:200]!r} is not")
    return whole.removeprefix(WORKSPACE).lstrip("/")


def resolve_file(path: str) -> str:
    name = resolve_name(path)
    if not name:
        raise InvalidRequest(f"{path[:200]!r} names no file: write it like {WORKSPACE}/data.txt")
    return name


def check_code(code: str) -> None:
    if not code.strip():
        raise InvalidRequest("the code is blank: there is nothing to run")
    if len(code.encode(errors="surrogatepass")) > MAX_CODE_CHARACTERS:
        raise InvalidRequest(f"the code has more than {MAX_CODE_CHARACTERS} bytes")
