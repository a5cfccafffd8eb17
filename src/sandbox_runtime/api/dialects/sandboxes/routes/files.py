"""List, upload, download and delete files of a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Query, Request, Response

from sandbox_runtime.api.caller import owner_of
from sandbox_runtime.api.dialects.sandboxes.mapping.answers import to_file, to_page
from sandbox_runtime.api.dialects.sandboxes.mapping.requests import WORKSPACE, decode_content, parse_mode, workspace_path
from sandbox_runtime.api.dialects.sandboxes.protocol_version import version_of
from sandbox_runtime.api.dialects.sandboxes.responses import error_response, model_response, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import (
    Identifier,
    PageOffset,
    PageSize,
    SortBy,
    SortOrder,
    sessions_of,
)
from sandbox_runtime.api.dialects.sandboxes.schemas.base import PageQuery, PageResponse
from sandbox_runtime.api.dialects.sandboxes.schemas.files import (
    MAX_FILE_BYTES,
    Encoding,
    SandboxFile,
    UploadFileRequest,
    WriteFileRequest,
)
from sandbox_runtime.api.file_response import FileDownload, attachment_headers
from sandbox_runtime.api.requests import body_chunks, read_body
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import FileRecord
from sandbox_runtime.workspace.listing import Entry, EntryKind

routes = router("/sandboxes/{sandbox_id}/files", "files")
Folder = Annotated[str, Query(max_length=4096, description="The folder to list; empty: the workspace.")]
_MAX_LISTED = 10_000
_SORT_KEYS = ("name", "size", "mod_time")
_OCTET_STREAM = "application/octet-stream"


@routes.get("", response_model=PageResponse)
async def list_files(
    request: Request,
    sandbox_id: Identifier,
    path: Folder = "",
    recursive: bool = False,
    page_size: PageSize = 20,
    page_offset: PageOffset = 0,
    sort_by: SortBy = "name",
    sort_order: SortOrder = "asc",
) -> Response:
    """List a folder, without contents. Uploaded files have their checksum and metadata.

    `sort_by`: `name`, `size` or `mod_time`.
    """
    query = PageQuery(page_size, page_offset, sort_by, sort_order == "desc")
    query.check_sort(_SORT_KEYS)
    folder = workspace_path(path)
    sessions, owner = sessions_of(request), owner_of(request)
    listing = await (await sessions.files.open(sandbox_id, owner)).list(folder, recursive=recursive, limit=_MAX_LISTED)
    uploads = {record.path: record for record in (await sessions.files.uploads(sandbox_id, owner)).items}
    files = [_to_listed_file(entry, f"{folder}/{entry.name}" if folder else entry.name, uploads) for entry in listing.entries]
    files.sort(key=lambda file: (file.path if sort_by == "name" else getattr(file, sort_by), file.path), reverse=query.descending)
    page = files[page_offset : page_offset + page_size]
    return model_response(request, to_page(page, len(files), page_size, page_offset, version_of(request)))


@routes.post("", status_code=201, response_model=SandboxFile)
async def upload_file(request: Request, sandbox_id: Identifier, body: UploadFileRequest) -> Response:
    """Create a file and its parent folders. Returns 409 if the file exists and `overwrite` is false."""
    return await _write(request, sandbox_id, workspace_path(body.path), body, 201)


@routes.get("/{path:path}", response_model=SandboxFile)
async def get_file(request: Request, sandbox_id: Identifier, path: str, encoding: Encoding = "utf8") -> Response:
    """Return a file with its content, or a folder without.

    Content that is not UTF-8 is base64. With `Accept: application/octet-stream` the response is the raw bytes; files of more than
    10 MiB can be fetched only this way.
    """
    name = workspace_path(path)
    sessions, owner = sessions_of(request), owner_of(request)
    files = await sessions.files.open(sandbox_id, owner)
    entry = await files.stat(name)
    if entry.kind is EntryKind.folder:
        return model_response(request, to_file(entry, name))
    if request.headers.get("accept", "").startswith(_OCTET_STREAM):
        # A file from a sandbox must not run as a page of this server.
        headers = {**attachment_headers(name), "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}
        return FileDownload(files, name, on_error=lambda error: error_response(error, request), headers=headers)
    read = await files.read(name, 0, MAX_FILE_BYTES)
    if not read.is_end:
        raise InvalidRequest(f"{name!r} has {read.size_bytes} bytes, which is too long for JSON: use Accept: {_OCTET_STREAM}")
    versions = await sessions.files.versions(sandbox_id, name, owner)
    return model_response(request, to_file(entry, name, read.content, encoding, versions, history=True))


@routes.put("/{path:path}", response_model=SandboxFile)
async def put_file(request: Request, sandbox_id: Identifier, path: str) -> Response:
    """Create or replace a file. A JSON body has the fields of POST without `path`; any other body is the content itself."""
    name = workspace_path(path)
    if request.headers.get("content-type", "").partition(";")[0].strip() == "application/json":
        body = WriteFileRequest.model_validate_json(await read_body(request))
        return await _write(request, sandbox_id, name, body, 200)
    sessions, owner = sessions_of(request), owner_of(request)
    entry = await (await sessions.files.open(sandbox_id, owner)).write(name, body_chunks(request))
    await sessions.files.save(sandbox_id, owner)
    return model_response(request, to_file(entry, name))


@routes.delete("/{path:path}", status_code=204)
async def delete_file(request: Request, sandbox_id: Identifier, path: str, recursive: bool = False) -> Response:
    """Delete a file or an empty folder, or with `recursive` a folder and everything in it."""
    sessions, owner = sessions_of(request), owner_of(request)
    await (await sessions.files.open(sandbox_id, owner)).delete(workspace_path(path), recursive=recursive)
    await sessions.files.save(sandbox_id, owner)
    return Response(status_code=204)


async def _write(
    request: Request, sandbox_id: str, name: str, body: UploadFileRequest | WriteFileRequest, status: int
) -> Response:
    content, mode = decode_content(body.content, body.encoding), parse_mode(body.permissions)
    sessions, owner = sessions_of(request), owner_of(request)
    files = await sessions.files.open(sandbox_id, owner)
    entry = await files.write(name, content, mode=mode, replace=body.overwrite)
    await sessions.files.save(sandbox_id, owner)
    return model_response(request, to_file(entry, name), status)


def _to_listed_file(entry: Entry, name: str, uploads: Mapping[str, FileRecord]) -> SandboxFile:
    record = uploads.get(f"{WORKSPACE}/{name}")
    return to_file(entry, name, versions=() if record is None else (record,))
