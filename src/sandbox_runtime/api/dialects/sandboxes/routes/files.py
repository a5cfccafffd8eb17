"""Files of a sandbox: listed, sent in, fetched, removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Query, Request, Response

from sandbox_runtime.api.caller import owner_of
from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.api.dialects.sandboxes.mapping import answers, requests
from sandbox_runtime.api.dialects.sandboxes.protocol_version import version_of
from sandbox_runtime.api.dialects.sandboxes.responses import answer, error_answer, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import (
    Identifier,
    PageOffset,
    PageSize,
    SortBy,
    SortOrder,
    Wanted,
    sessions_of,
)
from sandbox_runtime.api.file_response import FileDownload, attachment_headers
from sandbox_runtime.api.requests import body_chunks, read_body
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import FileRecord
from sandbox_runtime.workspace.listing import Entry, EntryKind

routes = router("/sandboxes/{sandbox_id}/files", "files")
Folder = Annotated[str, Query(max_length=4096)]
_MOST_LISTED = 10_000
_SORTED_BY = ("name", "size", "mod_time")
_BYTES = "application/octet-stream"


@routes.get("", response_model=schemas.Listed)
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
    """What is in a folder, without contents. Of files that were sent in, their checksum and what is known of them."""
    wanted = Wanted(page_size, page_offset, sort_by, sort_order == "desc")
    wanted.check(_SORTED_BY)
    folder = requests.name_of(path)
    sessions, owner = sessions_of(request), owner_of(request)
    listing = await (await sessions.files.open(sandbox_id, owner)).list(folder, recursive=recursive, limit=_MOST_LISTED)
    sent = {one.path: one for one in (await sessions.files.uploads(sandbox_id, owner)).items}
    found = [_listed(entry, f"{folder}/{entry.name}" if folder else entry.name, sent) for entry in listing.entries]
    found.sort(key=lambda one: (one.path if sort_by == "name" else getattr(one, sort_by), one.path), reverse=wanted.descending)
    shown = found[page_offset : page_offset + page_size]
    return answer(request, answers.page(shown, len(found), page_size, page_offset, version_of(request)))


@routes.post("", status_code=201, response_model=schemas.File)
async def upload_file(request: Request, sandbox_id: Identifier, asked: schemas.Upload) -> Response:
    """Write a file; folders on the way are made. One that is there is 409 unless overwrite is set."""
    return await _written(request, sandbox_id, requests.name_of(asked.path), asked, 201)


@routes.get("/{path:path}", response_model=schemas.File)
async def get_file(request: Request, sandbox_id: Identifier, path: str, encoding: schemas.Encoding = "utf8") -> Response:
    """A file with its content, as base64 where it is no text; with Accept: application/octet-stream its bytes as they are, which
    is the way for more than 10 MiB. Of a folder, what it is."""
    name = requests.name_of(path)
    sessions, owner = sessions_of(request), owner_of(request)
    files = await sessions.files.open(sandbox_id, owner)
    entry = await files.stat(name)
    if entry.kind is EntryKind.folder:
        return answer(request, answers.file(entry, name))
    if request.headers.get("accept", "").startswith(_BYTES):
        # Nothing that a sandbox made runs as a page of this server.
        guards = {**attachment_headers(name), "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}
        return FileDownload(files, name, on_error=lambda error: error_answer(error, request), headers=guards)
    read = await files.read(name, 0, schemas.MOST_FILE_BYTES)
    if not read.is_end:
        raise InvalidRequest(f"{name!r} has {read.size_bytes} bytes: fetch it with Accept: {_BYTES}")
    versions = await sessions.files.versions(sandbox_id, name, owner)
    return answer(request, answers.file(entry, name, read.content, encoding, versions, history=True))


@routes.put("/{path:path}", response_model=schemas.File)
async def put_file(request: Request, sandbox_id: Identifier, path: str) -> Response:
    """Write a file: a JSON body says what it holds as POST does; any other body is what it holds."""
    name = requests.name_of(path)
    if request.headers.get("content-type", "").partition(";")[0].strip() == "application/json":
        return await _written(request, sandbox_id, name, schemas.Write.model_validate_json(await read_body(request)), 200)
    sessions, owner = sessions_of(request), owner_of(request)
    entry = await (await sessions.files.open(sandbox_id, owner)).write(name, body_chunks(request))
    await sessions.files.save(sandbox_id, owner)
    return answer(request, answers.file(entry, name))


@routes.delete("/{path:path}", status_code=204)
async def delete_file(request: Request, sandbox_id: Identifier, path: str, recursive: bool = False) -> Response:
    """Remove a file, or a folder: an empty one, or with recursive all that is in it."""
    sessions, owner = sessions_of(request), owner_of(request)
    await (await sessions.files.open(sandbox_id, owner)).delete(requests.name_of(path), recursive=recursive)
    await sessions.files.save(sandbox_id, owner)
    return Response(status_code=204)


async def _written(request: Request, sandbox_id: str, name: str, asked: schemas.Upload | schemas.Write, status: int) -> Response:
    content, mode = requests.content_of(asked.content, asked.encoding), requests.mode_of(asked.permissions)
    sessions, owner = sessions_of(request), owner_of(request)
    files = await sessions.files.open(sandbox_id, owner)
    entry = await files.write(name, content, mode=mode, replace=asked.overwrite)
    await sessions.files.save(sandbox_id, owner)
    return answer(request, answers.file(entry, name), status)


def _listed(entry: Entry, name: str, sent: Mapping[str, FileRecord]) -> schemas.File:
    record = sent.get(f"{requests.WORKSPACE}/{name}")
    return answers.file(entry, name, versions=() if record is None else (record,))
