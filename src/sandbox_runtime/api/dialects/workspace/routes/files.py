"""Upload, download, list, read and preview files of a session.

The preview route is declared before the listing route, whose pattern matches its paths too.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from sandbox_runtime.api.dialects.workspace import documents
from sandbox_runtime.api.dialects.workspace.implicit_sessions import ImplicitSession
from sandbox_runtime.api.dialects.workspace.mapping.answers import HIDDEN_FILES, envelope, file_body, listing_body, slice_body
from sandbox_runtime.api.dialects.workspace.mapping.requests import file_path, relative_path
from sandbox_runtime.api.dialects.workspace.responses import (
    FILE_ERRORS,
    error_descriptions,
    error_response,
    implicit_session,
    read_body,
    respond,
    route_options,
)
from sandbox_runtime.api.dialects.workspace.schemas import CreateFileRequest, EfastDownloadRequest, Json, WorkspaceResponse
from sandbox_runtime.api.file_response import FileDownload, attachment_headers
from sandbox_runtime.api.multipart import open_file_part
from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.workspace import SessionFiles
from sandbox_runtime.workspace.preview import HEADERS, content_type

MAX_LISTED = 10_000
MAX_READ_BYTES = 16 * 1024**2

router = APIRouter()
_error_response = partial(error_response, table=FILE_ERRORS)
_NOSNIFF = {"X-Content-Type-Options": "nosniff"}
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {"schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}}
        },
    }
}


@router.post(
    "/upload/{session_id}",
    openapi_extra=_FORM,
    responses={200: {"model": WorkspaceResponse}, **error_descriptions(FILE_ERRORS)},
)
async def upload(request: Request, session_id: str, filename: str | None = None) -> Response:
    """Upload a file to the workspace. `filename` replaces the name in the form."""

    async def work() -> Json:
        part = await open_file_part(request)
        path = file_path(filename or part.filename)
        session = implicit_session(request, session_id)
        entry = await (await _files(session)).write(path, part.chunks())
        await session.sessions.files.save(session.id, session.owner)
        return file_body(entry)

    return await respond(work(), FILE_ERRORS)


@router.post("/create/{session_id}", **route_options(CreateFileRequest, WorkspaceResponse, FILE_ERRORS))
async def create(request: Request, session_id: str) -> Response:
    """Create or replace a text file."""

    async def work() -> Json:
        body = await read_body(request, CreateFileRequest)
        path, session = file_path(body.filename), implicit_session(request, session_id)
        entry = await (await _files(session)).write(path, body.content.encode(errors="replace"), mode=body.mode)
        await session.sessions.files.save(session.id, session.owner)
        return file_body(entry)

    return await respond(work(), FILE_ERRORS)


@router.get("/download/{session_id}/{path:path}", **route_options(table=FILE_ERRORS))
async def download(request: Request, session_id: str, path: str) -> Response:
    """Return the bytes of a file."""
    try:
        name = file_path(path)
        files = await _files(implicit_session(request, session_id))
    except SandboxError as error:
        return _error_response(error)
    return FileDownload(files, name, on_error=_error_response, headers={**attachment_headers(name), **_NOSNIFF})


@router.get("/files/preview/{session_id}/{path:path}", **route_options(table=FILE_ERRORS))
async def preview(request: Request, session_id: str, path: str, sid: Annotated[str, Query()]) -> Response:
    """Return a file for display in a browser, with scripts disabled and in an opaque origin. `sid` must be the session id."""
    try:
        if sid != session_id:
            raise InvalidRequest("sid must be the id of the session")
        name = file_path(path)
        media_type = content_type(name)
        files = await _files(implicit_session(request, session_id))
    except SandboxError as error:
        return _error_response(error)
    return FileDownload(files, name, on_error=_error_response, media_type=media_type, headers=HEADERS)


@router.get("/files/{session_id}", **route_options(response=WorkspaceResponse, table=FILE_ERRORS))
@router.get("/files/{session_id}/{path:path}", **route_options(response=WorkspaceResponse, table=FILE_ERRORS))
async def listing(request: Request, session_id: str, path: str = "", recursive: bool = False) -> Response:
    """List a folder of the workspace."""

    async def work() -> Json:
        files = await _files(implicit_session(request, session_id))
        folder = relative_path(path)
        hidden = () if folder else HIDDEN_FILES
        listed = await files.list(folder, recursive=recursive, limit=MAX_LISTED, leave_out=hidden)
        return listing_body(listed.entries)

    return await respond(work(), FILE_ERRORS)


@router.get("/readfile/{session_id}/{path:path}", **route_options(response=WorkspaceResponse, table=FILE_ERRORS))
async def read(
    request: Request,
    session_id: str,
    path: str,
    offset: Annotated[int, Query(ge=0)] = 0,
    buffer_size: Annotated[int, Query(ge=1, le=MAX_READ_BYTES)] = 4096,
) -> Response:
    """Return a part of a file: text as it is, other content as base64."""

    async def work() -> Json:
        name = file_path(path)
        files = await _files(implicit_session(request, session_id))
        return slice_body(name, await files.read(name, offset, buffer_size))

    return await respond(work(), FILE_ERRORS)


@router.post("/download_from_efast/{session_id}", **route_options(EfastDownloadRequest, WorkspaceResponse, FILE_ERRORS))
async def download_from_efast(request: Request, session_id: str) -> Response:
    """Download documents from the operator's document server into the workspace."""

    async def work() -> Json:
        body = await read_body(request, EfastDownloadRequest)
        session = implicit_session(request, session_id)
        server = documents.document_server(body, session.platform.settings)
        results = await documents.download_all(server, body, await _files(session))
        await session.sessions.files.save(session.id, session.owner)
        return envelope(results)

    return await respond(work(), FILE_ERRORS)


async def _files(session: ImplicitSession) -> SessionFiles:
    return await session.call(lambda: session.sessions.files.open(session.id, session.owner))
