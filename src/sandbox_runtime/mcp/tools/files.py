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
from sandbox_runtime.mcp.tools.arguments import Encoding, FilePath, SandboxId, file_name_of, name_of
from sandbox_runtime.mcp.tools.sandboxes import moment
from sandbox_runtime.mcp.tools.tool import Answer, AnyTool, Arguments, Call, Result, Tool

MOST_READ_BYTES = 10 * 1024**2


class WriteArguments(Arguments):
    sandbox_id: SandboxId
    path: FilePath
    content: Annotated[str, Field(description="The whole content.")]
    encoding: Encoding = "utf8"
    mode: Annotated[str, Field(pattern=r"^0?[0-7]{3}$", description="Permissions, in octal.")] = "0644"
    create_backup: Annotated[bool, Field(description="Keep what was there as <name>.bak.")] = False
    force_overwrite: Annotated[bool, Field(description="Replace a file that is there.")] = True
    validate_checksum: Annotated[
        str | None, Field(pattern=r"^[0-9a-fA-F]{64}$", description="SHA-256 that the content must have.")
    ] = None


class DownloadArguments(Arguments):
    sandbox_id: SandboxId
    path: FilePath
    encoding: Encoding = "utf8"


class ReadArguments(DownloadArguments):
    max_size: Annotated[int, Field(ge=1, le=MOST_READ_BYTES, description="Bytes; a larger file is refused.")] = 1024**2


class ListArguments(Arguments):
    sandbox_id: SandboxId
    path: Annotated[str, Field(min_length=1, max_length=4096, description="A folder of the sandbox.")] = WORKSPACE
    recursive: Annotated[bool, Field(description="Everything below it as well.")] = False


class Written(Result):
    sandbox_id: str
    path: str
    size: int
    encoding: str
    modified: str
    checksum: str


class Content(Written):
    content: str


class FileLine(Result):
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
    files: list[FileLine]
    truncated: bool = False


async def write(call: Call, asked: WriteArguments, done: str) -> Answer:
    sandbox_id, name = asked.sandbox_id.lower(), file_name_of(asked.path)
    raw = _decoded(asked.content, asked.encoding)
    checksum = hashlib.sha256(raw).hexdigest()
    most = call.config.resources.max_file_size
    if len(raw) > most:
        raise InvalidRequest(f"the file has {len(raw)} bytes; at most {most} are allowed (resources.max_file_size)")
    if asked.validate_checksum and asked.validate_checksum.lower() != checksum:
        raise InvalidRequest(f"the content has the SHA-256 {checksum}, not {asked.validate_checksum}: nothing was written")
    await _make_way(call, asked, sandbox_id, name)
    view = await call.place.write(sandbox_id, name, raw, int(asked.mode, 8))
    result = Written(checksum=checksum, **_facts(sandbox_id, view, asked.encoding))
    text = f"{done}\nPath: {result.path}\nSize: {result.size} bytes\nEncoding: {asked.encoding}"
    return Answer(text, result, result.model_dump(exclude={"checksum"}))


async def _make_way(call: Call, asked: WriteArguments, sandbox_id: str, name: str) -> None:
    """What stands there is kept beside it, or in the way, where that was asked for."""
    if asked.force_overwrite and not asked.create_backup:
        return
    try:
        there = await call.place.stat(sandbox_id, name)
    except NotFound:
        await call.place.get(sandbox_id)
        return
    if not asked.force_overwrite:
        raise Conflict(f"{WORKSPACE}/{name} is there already, and force_overwrite is false")
    old = await call.place.read(sandbox_id, name, call.config.resources.max_file_size)
    await call.place.write(sandbox_id, f"{name}.bak", old, there.mode)


async def read(call: Call, asked: ReadArguments) -> Answer:
    result = await _content(call, asked, asked.max_size)
    head = f"File: {result.path}\nSize: {result.size} bytes\nEncoding: {result.encoding}\nModified: {result.modified}"
    return Answer(f"{head}\nContent:\n{result.content}", result, result.model_dump(exclude={"checksum", "content"}))


async def download(call: Call, asked: DownloadArguments) -> Answer:
    result = await _content(call, asked, call.config.resources.max_file_size)
    head = f"File downloaded successfully\nPath: {result.path}\nSize: {result.size} bytes\nEncoding: {result.encoding}"
    return Answer(f"{head}\nContent:\n{result.content}", result, result.model_dump(exclude={"checksum"}))


async def list_files(call: Call, asked: ListArguments) -> Answer:
    folder = name_of(asked.path)
    try:
        views, more = await call.place.files(asked.sandbox_id.lower(), folder, recursive=asked.recursive)
    except NotFound as error:
        await call.place.get(asked.sandbox_id.lower())
        raise error_codes.ToolFailure(error_codes.FILE_NOT_FOUND, str(error)) from error
    lines = [_line(view) for view in views[: call.config.resources.max_files]]
    more = more or len(views) > len(lines)
    result = FileList(path=_whole(folder), recursive=asked.recursive, count=len(lines), files=lines, truncated=more)
    listed = json.dumps([line.model_dump() for line in lines], indent=2)
    count = f"Found {len(lines)} files in {result.path}" + (" (there are more)" if more else "")
    return Answer(f"{count}\n{listed}", result, result.model_dump())


async def _content(call: Call, asked: DownloadArguments, most_bytes: int) -> Content:
    sandbox_id, name = asked.sandbox_id.lower(), file_name_of(asked.path)
    try:
        view = await call.place.stat(sandbox_id, name)
        raw = await call.place.read(sandbox_id, name, most_bytes)
    except NotFound as error:
        await call.place.get(sandbox_id)
        raise error_codes.ToolFailure(error_codes.FILE_NOT_FOUND, str(error)) from error
    content = _encoded(raw, asked.encoding, asked.path)
    return Content(content=content, checksum=hashlib.sha256(raw).hexdigest(), **_facts(sandbox_id, view, asked.encoding))


def _decoded(content: str, encoding: str) -> bytes:
    if encoding == "utf8":
        return content.encode(errors="surrogatepass")
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(f"the content is no base64: {error}") from error


def _encoded(raw: bytes, encoding: str, path: str) -> str:
    if encoding == "base64":
        return base64.b64encode(raw).decode()
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path[:200]!r} is no UTF-8 text: ask for it with encoding base64") from error


def _facts(sandbox_id: str, view: FileView, encoding: str) -> dict[str, str | int]:
    return {
        "sandbox_id": sandbox_id,
        "path": _whole(view.name),
        "size": view.size_bytes,
        "encoding": encoding,
        "modified": moment(view.modified_ms),
    }


def _line(view: FileView) -> FileLine:
    return FileLine(
        name=view.name.rpartition("/")[2],
        path=_whole(view.name),
        size=view.size_bytes,
        is_dir=view.is_folder,
        mode=f"{view.mode:04o}",
        modified=moment(view.modified_ms),
    )


def _whole(name: str) -> str:
    return f"{WORKSPACE}/{name}" if name else WORKSPACE


_CHANGES = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True}
_LOOKS = {"readOnlyHint": True}

TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "upload_file",
        "Upload a file",
        "Puts a file into a sandbox; folders on the way are made.",
        WriteArguments,
        Written,
        partial(write, done="File uploaded successfully"),
        _CHANGES,
    ),
    Tool(
        "write_file",
        "Write a file",
        "Writes a text, or bytes as base64, into a file of a sandbox; folders on the way are made.",
        WriteArguments,
        Written,
        partial(write, done="File written successfully"),
        _CHANGES,
    ),
    Tool(
        "download_file",
        "Download a file",
        "Tells the whole content of a file of a sandbox.",
        DownloadArguments,
        Content,
        download,
        _LOOKS,
    ),
    Tool(
        "read_file",
        "Read a file",
        "Tells the content of a file of a sandbox, up to max_size bytes.",
        ReadArguments,
        Content,
        read,
        _LOOKS,
    ),
    Tool(
        "list_files",
        "List files",
        "Tells the files and folders of a sandbox's folder.",
        ListArguments,
        FileList,
        list_files,
        _LOOKS,
    ),
)
