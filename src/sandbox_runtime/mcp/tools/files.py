"""upload_file, write_file, download_file, read_file, list_files."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from functools import partial
from typing import Annotated

from pydantic import Field

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound
from sandbox_runtime.mcp.hosts.port import WORKSPACE, FileView
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.arguments import Encoding, FilePath, SandboxId, resolve_file, resolve_name
from sandbox_runtime.mcp.tools.sandboxes import iso_time
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Result, Tool, ToolContext, ToolResponse

MAX_READ_BYTES = 10 * 1024**2


class WriteArguments(Arguments):
    sandbox_id: SandboxId
    path: FilePath
    content: Annotated[str, Field(description="The whole content.")]
    encoding: Encoding = "utf8"
    mode: Annotated[str, Field(pattern=r"^0?[0-7]{3}$", description="Permissions in octal.")] = "0644"
    create_backup: Annotated[bool, Field(description="Keep an existing file as <name>.bak.")] = False
    force_overwrite: Annotated[bool, Field(description="Replace an existing file.")] = True
    validate_checksum: Annotated[
        str | None, Field(pattern=r"^[0-9a-fA-F]{64}$", description="Expected SHA-256 of the content.")
    ] = None


class DownloadArguments(Arguments):
    sandbox_id: SandboxId
    path: FilePath
    encoding: Encoding = "utf8"


class ReadArguments(DownloadArguments):
    max_size: Annotated[int, Field(ge=1, le=MAX_READ_BYTES, description="Size limit in bytes; a larger file is refused.")] = (
        1024**2
    )


class ListArguments(Arguments):
    sandbox_id: SandboxId
    path: Annotated[str, Field(min_length=1, max_length=4096, description="The folder to list.")] = WORKSPACE
    recursive: Annotated[bool, Field(description="Include all subfolders.")] = False


class WriteResult(Result):
    sandbox_id: str
    path: str
    size: int
    encoding: str
    modified: str
    checksum: str


class ReadResult(WriteResult):
    content: str


class FileEntry(Result):
    name: str
    path: str
    size: int
    is_dir: bool
    mode: str
    modified: str


class FileList(Result):
    path: str
    recursive: bool
    count: int
    files: list[FileEntry]
    truncated: bool = False


async def write(ctx: ToolContext, arguments: WriteArguments, done: str) -> ToolResponse:
    sandbox_id, name = arguments.sandbox_id.lower(), resolve_file(arguments.path)
    raw = _decode(arguments.content, arguments.encoding)
    checksum = hashlib.sha256(raw).hexdigest()
    max_bytes = ctx.config.resources.max_file_size
    if len(raw) > max_bytes:
        raise InvalidRequest(f"the file has {len(raw)} bytes; the limit is {max_bytes} (resources.max_file_size)")
    if arguments.validate_checksum and arguments.validate_checksum.lower() != checksum:
        raise InvalidRequest(f"the SHA-256 of the content is {checksum}, not {arguments.validate_checksum}; nothing was written")
    await _handle_existing(ctx, arguments, sandbox_id, name)
    view = await ctx.host.write(sandbox_id, name, raw, int(arguments.mode, 8))
    result = WriteResult(checksum=checksum, **_facts(sandbox_id, view, arguments.encoding))
    text = f"{done}\nPath: {result.path}\nSize: {result.size} bytes\nEncoding: {arguments.encoding}"
    return ToolResponse(text, result, result.model_dump(exclude={"checksum"}))


async def _handle_existing(ctx: ToolContext, arguments: WriteArguments, sandbox_id: str, name: str) -> None:
    """Back up an existing file, or raise Conflict, as the arguments say."""
    if arguments.force_overwrite and not arguments.create_backup:
        return
    try:
        existing = await ctx.host.stat(sandbox_id, name)
    except NotFound:
        await ctx.host.get(sandbox_id)
        return
    if not arguments.force_overwrite:
        raise Conflict(f"{WORKSPACE}/{name} exists and force_overwrite is false")
    content = await ctx.host.read(sandbox_id, name, ctx.config.resources.max_file_size)
    await ctx.host.write(sandbox_id, f"{name}.bak", content, existing.mode)


async def read(ctx: ToolContext, arguments: ReadArguments) -> ToolResponse:
    result = await _content(ctx, arguments, arguments.max_size)
    head = f"File: {result.path}\nSize: {result.size} bytes\nEncoding: {result.encoding}\nModified: {result.modified}"
    return ToolResponse(f"{head}\nContent:\n{result.content}", result, result.model_dump(exclude={"checksum", "content"}))


async def download(ctx: ToolContext, arguments: DownloadArguments) -> ToolResponse:
    result = await _content(ctx, arguments, ctx.config.resources.max_file_size)
    head = f"File downloaded successfully\nPath: {result.path}\nSize: {result.size} bytes\nEncoding: {result.encoding}"
    return ToolResponse(f"{head}\nContent:\n{result.content}", result, result.model_dump(exclude={"checksum"}))


async def list_files(ctx: ToolContext, arguments: ListArguments) -> ToolResponse:
    folder = resolve_name(arguments.path)
    try:
        views, more = await ctx.host.files(arguments.sandbox_id.lower(), folder, recursive=arguments.recursive)
    except NotFound as error:
        await ctx.host.get(arguments.sandbox_id.lower())
        raise error_codes.ToolFailure(error_codes.FILE_NOT_FOUND, str(error)) from error
    lines = [_entry(view) for view in views[: ctx.config.resources.max_files]]
    more = more or len(views) > len(lines)
    result = FileList(path=_full_path(folder), recursive=arguments.recursive, count=len(lines), files=lines, truncated=more)
    listed = json.dumps([line.model_dump() for line in lines], indent=2)
    count = f"Found {len(lines)} files in {result.path}" + (" (there are more)" if more else "")
    return ToolResponse(f"{count}\n{listed}", result, result.model_dump())


async def _content(ctx: ToolContext, arguments: DownloadArguments, max_bytes: int) -> ReadResult:
    sandbox_id, name = arguments.sandbox_id.lower(), resolve_file(arguments.path)
    try:
        view = await ctx.host.stat(sandbox_id, name)
        raw = await ctx.host.read(sandbox_id, name, max_bytes)
    except NotFound as error:
        await ctx.host.get(sandbox_id)
        raise error_codes.ToolFailure(error_codes.FILE_NOT_FOUND, str(error)) from error
    content = _encode(raw, arguments.encoding, arguments.path)
    return ReadResult(content=content, checksum=hashlib.sha256(raw).hexdigest(), **_facts(sandbox_id, view, arguments.encoding))


def _decode(content: str, encoding: str) -> bytes:
    if encoding == "utf8":
        return content.encode(errors="surrogatepass")
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(f"the content is not valid base64: {error}") from error


def _encode(raw: bytes, encoding: str, path: str) -> str:
    if encoding == "base64":
        return base64.b64encode(raw).decode()
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path[:200]!r} is not UTF-8 text; use encoding base64") from error


def _facts(sandbox_id: str, view: FileView, encoding: str) -> dict[str, str | int]:
    return {
        "sandbox_id": sandbox_id,
        "path": _full_path(view.name),
        "size": view.size_bytes,
        "encoding": encoding,
        "modified": iso_time(view.modified_ms),
    }


def _entry(view: FileView) -> FileEntry:
    return FileEntry(
        name=view.name.rpartition("/")[2],
        path=_full_path(view.name),
        size=view.size_bytes,
        is_dir=view.is_folder,
        mode=f"{view.mode:04o}",
        modified=iso_time(view.modified_ms),
    )


def _full_path(name: str) -> str:
    return f"{WORKSPACE}/{name}" if name else WORKSPACE


_CHANGES = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}
_LOOKS = {"readOnlyHint": True}

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "upload_file",
        "Upload a file",
        "Uploads a file to a sandbox and creates its parent folders.",
        WriteArguments,
        WriteResult,
        partial(write, done="File uploaded successfully"),
        _CHANGES,
    ),
    Tool(
        "write_file",
        "Write a file",
        "Writes text, or bytes as base64, to a file of a sandbox and creates its parent folders.",
        WriteArguments,
        WriteResult,
        partial(write, done="File written successfully"),
        _CHANGES,
    ),
    Tool(
        "download_file",
        "Download a file",
        "Returns the whole content of a file of a sandbox.",
        DownloadArguments,
        ReadResult,
        download,
        _LOOKS,
    ),
    Tool(
        "read_file",
        "Read a file",
        "Returns the content of a file of a sandbox, up to max_size bytes.",
        ReadArguments,
        ReadResult,
        read,
        _LOOKS,
    ),
    Tool(
        "list_files",
        "List files",
        "Lists the files and folders in a folder of a sandbox.",
        ListArguments,
        FileList,
        list_files,
        _LOOKS,
    ),
)
