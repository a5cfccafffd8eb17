"""Files of a session: listed, sent in, fetched, removed. Nothing is in memory as a whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import quote

from fastapi import HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from starlette.datastructures import UploadFile

from sandbox_runtime.api.dialects.control_plane import signed_urls
from sandbox_runtime.api.dialects.control_plane.responses import answer, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, owner_of, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import files as wire
from sandbox_runtime.api.file_response import ClosingStream
from sandbox_runtime.api.requests import body_chunks
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.workspace.listing import EntryKind

routes = router("/sessions/{session_id}", "files")
signed = router("/signed-files", "files")
SENT_AS_IT_IS_BYTES = 10 * MIB
SIGNED_FOR_S = 3600
WORKSPACE = "/workspace"
_PIECE_BYTES = 256 * 1024
_FORM_WITHIN_S = 600.0
_MOST_PATH = 4096
Listed = Annotated[int, Query(ge=1, le=10_000)]
Folder = Annotated[str, Query(max_length=_MOST_PATH)]
From = Annotated[int, Query(ge=0, le=2**53)]
Length = Annotated[int | None, Query(ge=0, le=2**53)]


@routes.get("/files", responses=returns(wire.FileList))
async def list_files(
    request: Request, session_id: Identifier, path: Folder = "", limit: Listed = 1000, recursive: bool = True
) -> Response:
    """Plain files below the path."""
    files = await sessions_of(request).files.open(session_id, owner_of(request))
    folder = relative(path)
    listing = await files.list(folder, recursive=recursive, limit=limit)
    found = [
        wire.FileInfo(
            name=f"{folder}/{entry.name}" if folder else entry.name,
            container_path=f"{WORKSPACE}/{folder}/{entry.name}".replace("//", "/"),
            size=entry.size_bytes,
            modified_time=datetime.fromtimestamp(entry.modified_s, UTC),
            etag=entry.etag,
        )
        for entry in listing.entries
        if entry.kind is EntryKind.file
    ]
    return answer(wire.FileList(session_id=session_id, files=found, count=len(found), truncated=listing.truncated))


@routes.post("/files/upload", responses=returns(wire.Uploaded))
async def upload_file(request: Request, session_id: Identifier, path: Folder = "") -> Response:
    """Send a file as a form with one file. path names it, or the folder when it ends with a slash; a field of the form may say so
    too."""
    sessions, owner = sessions_of(request), owner_of(request)
    files = await sessions.files.open(session_id, owner)
    try:
        async with asyncio.timeout(_FORM_WITHIN_S), request.form(max_files=1, max_fields=8) as form:
            given, field = form.get("file"), form.get("path")
            if not isinstance(given, UploadFile):
                raise InvalidRequest("the form has no field called file with a file in it")
            name = target_of(path or (field if isinstance(field, str) else ""), given.filename or "")
            entry = await files.write(name, _pieces(given))
    except TimeoutError as error:
        raise HTTPException(408, "the file did not arrive in time") from error
    await sessions.files.save(session_id, owner)
    return answer(wire.Uploaded(session_id=session_id, file_path=name, path=name, size=entry.size_bytes))


@routes.put("/files/{path:path}", responses=returns(wire.Uploaded))
async def write_file(request: Request, session_id: Identifier, path: str) -> Response:
    """Write a file: the body is what it holds."""
    sessions, owner = sessions_of(request), owner_of(request)
    name = relative(path)
    entry = await (await sessions.files.open(session_id, owner)).write(name, body_chunks(request))
    await sessions.files.save(session_id, owner)
    return answer(wire.Uploaded(session_id=session_id, file_path=name, path=name, size=entry.size_bytes))


@routes.delete("/files/{path:path}", status_code=204)
async def delete_file(request: Request, session_id: Identifier, path: str, recursive: bool = False) -> Response:
    """Remove a file, or a folder: an empty one, or with recursive all that is in it."""
    sessions, owner = sessions_of(request), owner_of(request)
    await (await sessions.files.open(session_id, owner)).delete(relative(path), recursive=recursive)
    await sessions.files.save(session_id, owner)
    return Response(status_code=204)


@routes.post("/files/move", responses=returns(wire.Moved))
async def move_file(request: Request, session_id: Identifier, asked: wire.Move) -> Response:
    """Give a file or a folder another name."""
    sessions, owner = sessions_of(request), owner_of(request)
    source, target = relative(asked.source), relative(asked.target)
    await (await sessions.files.open(session_id, owner)).move(source, target, replace=asked.replace)
    await sessions.files.save(session_id, owner)
    return answer(wire.Moved(session_id=session_id, source=source, target=target))


@routes.get("/files/{path:path}", responses=returns(wire.Presigned), response_class=StreamingResponse)
async def download_file(
    request: Request,
    session_id: Identifier,
    path: str,
    offset: From = 0,
    length: Length = None,
    download: bool = False,
    redirect: bool = False,
) -> Response:
    """The bytes of a file; of one that has 10 MiB or more, an address at which they are. download: its bytes, however many.
    redirect: to that address, however few. offset and length: a part of it."""
    sessions, owner, name = sessions_of(request), owner_of(request), relative(path)
    part = offset > 0 or length is not None
    if not (download or part):
        entry = await (await sessions.files.open(session_id, owner)).stat(name)
        if redirect or entry.size_bytes >= SENT_AS_IT_IS_BYTES:
            url = _address(request, session_id, owner, name)
            if redirect:
                return RedirectResponse(url, 307)
            told = wire.Presigned(session_id=session_id, file_path=name, presigned_url=url, size=entry.size_bytes)
            return answer(told)
    return await _sent(sessions, session_id, owner, name, offset, length)


@signed.get("/{token}", response_class=StreamingResponse)
async def signed_file(request: Request, token: str) -> Response:
    """The bytes of a file at the address that a download gave. Without a key: the address is one."""
    ticket = signed_urls.opened(token, request.app.state.signing_secret)
    return await _sent(sessions_of(request), ticket.session, ticket.owner, ticket.path, 0, None)


def relative(path: str) -> str:
    """Below the workspace, however it is written. What leads out of it is refused where names are checked."""
    plain = path.removeprefix(WORKSPACE) if path == WORKSPACE or path.startswith(f"{WORKSPACE}/") else path
    return plain.strip("/") if plain != path or not path.startswith("/") else path


def target_of(path: str, filename: str) -> str:
    """Of the sender's own name only the last part counts."""
    last = filename.replace("\\", "/").rpartition("/")[2]
    if path and not path.endswith("/"):
        return relative(path)
    if last in ("", ".", ".."):
        raise InvalidRequest("the file has no name: set path")
    folder = relative(path)
    return f"{folder}/{last}" if folder else last


async def _sent(sessions: Sessions, session_id: str, owner: str, name: str, offset: int, length: int | None) -> Response:
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
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name.rpartition('/')[2], safe='')}",
        # Nothing that a session made runs as a page of this server.
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
        "X-File-Size": str(size),
    }
    return ClosingStream(download.chunks(offset, sent), stack, headers)


async def _pieces(given: UploadFile) -> AsyncIterator[bytes]:
    while piece := await given.read(_PIECE_BYTES):
        yield piece


def _address(request: Request, session_id: str, owner: str, name: str) -> str:
    ticket = signed_urls.Ticket(session_id, owner, name, int(time.time()) + SIGNED_FOR_S)
    return str(request.url_for("signed_file", token=signed_urls.signed(ticket, request.app.state.signing_secret)))
