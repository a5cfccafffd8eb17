"""Files of a session: list, upload, download, move and delete. Files are streamed, never held in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Annotated

from fastapi import HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from starlette.datastructures import UploadFile

from sandbox_runtime.api.dialects.control_plane.mapping import signed_urls
from sandbox_runtime.api.dialects.control_plane.responses import json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, owner_of, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import files as schemas
from sandbox_runtime.api.file_response import ClosingStream, attachment_headers
from sandbox_runtime.api.requests import body_chunks
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.workspace.listing import EntryKind

router = new_router("/sessions/{session_id}", "files")
signed_router = new_router("/signed-files", "files")
INLINE_MAX_BYTES = 10 * MIB
SIGNED_URL_S = 3600
WORKSPACE = "/workspace"
_CHUNK_BYTES = 256 * 1024
_FORM_TIMEOUT_S = 600.0
_MAX_PATH_LENGTH = 4096
FileLimit = Annotated[int, Query(ge=1, le=10_000)]
Folder = Annotated[str, Query(max_length=_MAX_PATH_LENGTH)]
ByteOffset = Annotated[int, Query(ge=0, le=2**53)]
ByteLength = Annotated[int | None, Query(ge=0, le=2**53)]


@router.get("/files", responses=returns(schemas.FileList))
async def list_files(
    request: Request, session_id: Identifier, path: Folder = "", limit: FileLimit = 1000, recursive: bool = True
) -> Response:
    """List the regular files below a path."""
    files = await sessions_of(request).files.open(session_id, owner_of(request))
    folder = relative(path)
    listing = await files.list(folder, recursive=recursive, limit=limit)
    infos = [
        schemas.FileInfo(
            name=f"{folder}/{entry.name}" if folder else entry.name,
            container_path=f"{WORKSPACE}/{folder}/{entry.name}".replace("//", "/"),
            size=entry.size_bytes,
            modified_time=datetime.fromtimestamp(entry.modified_s, UTC),
            etag=entry.etag,
        )
        for entry in listing.entries
        if entry.kind is EntryKind.file
    ]
    return json_response(schemas.FileList(session_id=session_id, files=infos, count=len(infos), truncated=listing.truncated))


@router.post("/files/upload", responses=returns(schemas.UploadResponse))
async def upload_file(request: Request, session_id: Identifier, path: Folder = "") -> Response:
    """Upload a file as a form with the field `file`. `path`, as parameter or form field, is its name, or its folder if it ends
    with a slash."""
    sessions, owner = sessions_of(request), owner_of(request)
    files = await sessions.files.open(session_id, owner)
    try:
        async with asyncio.timeout(_FORM_TIMEOUT_S), request.form(max_files=1, max_fields=8) as form:
            upload, field = form.get("file"), form.get("path")
            if not isinstance(upload, UploadFile):
                raise InvalidRequest("the form needs a file in the field `file`")
            name = upload_target(path or (field if isinstance(field, str) else ""), upload.filename or "")
            entry = await files.write(name, _chunks(upload))
    except TimeoutError as error:
        raise HTTPException(408, "the file did not arrive in time") from error
    await sessions.files.save(session_id, owner)
    return json_response(schemas.UploadResponse(session_id=session_id, file_path=name, path=name, size=entry.size_bytes))


@router.put("/files/{path:path}", responses=returns(schemas.UploadResponse))
async def write_file(request: Request, session_id: Identifier, path: str) -> Response:
    """Write a file. The body is its content."""
    sessions, owner = sessions_of(request), owner_of(request)
    name = relative(path)
    entry = await (await sessions.files.open(session_id, owner)).write(name, body_chunks(request))
    await sessions.files.save(session_id, owner)
    return json_response(schemas.UploadResponse(session_id=session_id, file_path=name, path=name, size=entry.size_bytes))


@router.delete("/files/{path:path}", status_code=204)
async def delete_file(request: Request, session_id: Identifier, path: str, recursive: bool = False) -> Response:
    """Delete a file or an empty folder; with `recursive`, a folder with everything in it."""
    sessions, owner = sessions_of(request), owner_of(request)
    await (await sessions.files.open(session_id, owner)).delete(relative(path), recursive=recursive)
    await sessions.files.save(session_id, owner)
    return Response(status_code=204)


@router.post("/files/move", responses=returns(schemas.MoveResponse))
async def move_file(request: Request, session_id: Identifier, body: schemas.MoveRequest) -> Response:
    """Move or rename a file or folder."""
    sessions, owner = sessions_of(request), owner_of(request)
    source, target = relative(body.source), relative(body.target)
    await (await sessions.files.open(session_id, owner)).move(source, target, replace=body.replace)
    await sessions.files.save(session_id, owner)
    return json_response(schemas.MoveResponse(session_id=session_id, source=source, target=target))


@router.get("/files/{path:path}", responses=returns(schemas.PresignedUrlResponse), response_class=StreamingResponse)
async def download_file(
    request: Request,
    session_id: Identifier,
    path: str,
    offset: ByteOffset = 0,
    length: ByteLength = None,
    download: bool = False,
    redirect: bool = False,
) -> Response:
    """Download a file. For files of 10 MiB and more, return a URL to download them from instead, unless `download` is set.
    `redirect`: redirect to that URL, whatever the size. `offset`, `length`: return this part of the file."""
    sessions, owner, name = sessions_of(request), owner_of(request), relative(path)
    part = offset > 0 or length is not None
    if not (download or part):
        entry = await (await sessions.files.open(session_id, owner)).stat(name)
        if redirect or entry.size_bytes >= INLINE_MAX_BYTES:
            url = _signed_url(request, session_id, owner, name)
            if redirect:
                return RedirectResponse(url, 307)
            response = schemas.PresignedUrlResponse(
                session_id=session_id, file_path=name, presigned_url=url, size=entry.size_bytes
            )
            return json_response(response)
    return await _send_file(sessions, session_id, owner, name, offset, length)


@signed_router.get("/{token}", response_class=StreamingResponse)
async def signed_file(request: Request, token: str) -> Response:
    """Download a file from a signed URL. No key is needed."""
    grant = signed_urls.verify(token, request.app.state.signing_secret)
    return await _send_file(sessions_of(request), grant.session, grant.owner, grant.path, 0, None)


def relative(path: str) -> str:
    """Return the path relative to the workspace. Paths that lead out of it are rejected later."""
    plain = path.removeprefix(WORKSPACE) if path == WORKSPACE or path.startswith(f"{WORKSPACE}/") else path
    return plain.strip("/") if plain != path or not path.startswith("/") else path


def upload_target(path: str, filename: str) -> str:
    """Return the path of an uploaded file. Folders in the client's file name are dropped."""
    last = filename.replace("\\", "/").rpartition("/")[2]
    if path and not path.endswith("/"):
        return relative(path)
    if last in ("", ".", ".."):
        raise InvalidRequest("the uploaded file has no name: set path")
    folder = relative(path)
    return f"{folder}/{last}" if folder else last


async def _send_file(sessions: Sessions, session_id: str, owner: str, name: str, offset: int, length: int | None) -> Response:
    files = await sessions.files.open(session_id, owner)
    stack = AsyncExitStack()
    try:
        download = await stack.enter_async_context(files.open(name))
        size = download.entry.size_bytes
        sent = max(0, size - offset) if length is None else max(0, min(length, size - offset))
    except BaseException:
        await stack.aclose()
        raise
    headers = {
        "Content-Length": str(sent),
        **attachment_headers(name),
        # Browsers must not run a file of a session as a page of this server.
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
        "X-File-Size": str(size),
    }
    return ClosingStream(download.chunks(offset, sent), stack, headers)


async def _chunks(upload: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await upload.read(_CHUNK_BYTES):
        yield chunk


def _signed_url(request: Request, session_id: str, owner: str, name: str) -> str:
    grant = signed_urls.FileGrant(session_id, owner, name, int(time.time()) + SIGNED_URL_S)
    return str(request.url_for("signed_file", token=signed_urls.sign(grant, request.app.state.signing_secret)))
