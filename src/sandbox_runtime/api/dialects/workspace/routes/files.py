"""Files of a session: in, out, listed, read, shown. The route of previews comes before that of listings, which would take it."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from sandbox_runtime.api.dialects.workspace import documents, responses
from sandbox_runtime.api.dialects.workspace.implicit_sessions import Room
from sandbox_runtime.api.dialects.workspace.mapping import answers
from sandbox_runtime.api.dialects.workspace.mapping.requests import file_name, relative
from sandbox_runtime.api.dialects.workspace.responses import answered, described, message, refusals, room_of
from sandbox_runtime.api.dialects.workspace.schemas import Answer, CreateFile, DownloadFromEfast, Json
from sandbox_runtime.api.file_response import FileDownload, attachment
from sandbox_runtime.api.multipart import file_part
from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.workspace import SessionFiles
from sandbox_runtime.workspace.preview import HEADERS, content_type

MOST_LISTED = 10_000
MOST_READ_BYTES = 16 * 1024**2

router = APIRouter()
_refusal = partial(responses.error_response, table=responses.OF_FILE)
_NOSNIFF = {"X-Content-Type-Options": "nosniff"}
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {"schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}}
        },
    }
}


@router.post("/upload/{session_id}", openapi_extra=_FORM, responses={200: {"model": Answer}, **refusals(responses.OF_FILE)})
async def upload(request: Request, session_id: str, filename: str | None = None) -> Response:
    """Put a file into the workspace, under its own name or another."""

    async def work() -> Json:
        part = await file_part(request)
        name = file_name(filename or part.filename)
        room = room_of(request, session_id)
        entry = await (await _files(room)).write(name, part.pieces())
        await room.sessions.saved(room.id, room.owner)
        return answers.written(entry)

    return await answered(work(), responses.OF_FILE)


@router.post("/create/{session_id}", **described(CreateFile, Answer, responses.OF_FILE))
async def create(request: Request, session_id: str) -> Response:
    """Write a text into a file."""

    async def work() -> Json:
        asked = await message(request, CreateFile)
        name, room = file_name(asked.filename), room_of(request, session_id)
        entry = await (await _files(room)).write(name, asked.content.encode(errors="replace"), mode=asked.mode)
        await room.sessions.saved(room.id, room.owner)
        return answers.written(entry)

    return await answered(work(), responses.OF_FILE)


@router.get("/download/{session_id}/{path:path}", **described(table=responses.OF_FILE))
async def download(request: Request, session_id: str, path: str) -> Response:
    """The bytes of a file."""
    try:
        name = file_name(path)
        files = await _files(room_of(request, session_id))
    except SandboxError as error:
        return _refusal(error)
    return FileDownload(files, name, refusal=_refusal, headers={**attachment(name), **_NOSNIFF})


@router.get("/files/preview/{session_id}/{path:path}", **described(table=responses.OF_FILE))
async def preview(request: Request, session_id: str, path: str, sid: Annotated[str, Query()]) -> Response:
    """A file as a browser shows it, without scripts and in an origin of its own."""
    try:
        if sid != session_id:
            raise InvalidRequest("sid must be the id of the session")
        name = file_name(path)
        media_type = content_type(name)
        files = await _files(room_of(request, session_id))
    except SandboxError as error:
        return _refusal(error)
    return FileDownload(files, name, refusal=_refusal, media_type=media_type, headers=HEADERS)


@router.get("/files/{session_id}", **described(answer=Answer, table=responses.OF_FILE))
@router.get("/files/{session_id}/{path:path}", **described(answer=Answer, table=responses.OF_FILE))
async def listing(request: Request, session_id: str, path: str = "", recursive: bool = False) -> Response:
    """What is in a folder of the workspace."""

    async def work() -> Json:
        files = await _files(room_of(request, session_id))
        hidden = () if relative(path) else answers.HIDDEN
        found = await files.list(relative(path), recursive=recursive, limit=MOST_LISTED, leave_out=hidden)
        return answers.listing(found.entries)

    return await answered(work(), responses.OF_FILE)


@router.get("/readfile/{session_id}/{path:path}", **described(answer=Answer, table=responses.OF_FILE))
async def read(
    request: Request,
    session_id: str,
    path: str,
    offset: Annotated[int, Query(ge=0)] = 0,
    buffer_size: Annotated[int, Query(ge=1, le=MOST_READ_BYTES)] = 4096,
) -> Response:
    """A slice of a file: text as it is, anything else as base64."""

    async def work() -> Json:
        name = file_name(path)
        files = await _files(room_of(request, session_id))
        return answers.read(name, await files.read(name, offset, buffer_size))

    return await answered(work(), responses.OF_FILE)


@router.post("/download_from_efast/{session_id}", **described(DownloadFromEfast, Answer, responses.OF_FILE))
async def download_from_efast(request: Request, session_id: str) -> Response:
    """Fetch documents from the operator's document server into the workspace."""

    async def work() -> Json:
        asked = await message(request, DownloadFromEfast)
        room = room_of(request, session_id)
        source = documents.source_of(asked, room.platform.settings)
        told = await documents.fetch_all(source, asked, await _files(room))
        await room.sessions.saved(room.id, room.owner)
        return answers.enveloped(told)

    return await answered(work(), responses.OF_FILE)


async def _files(room: Room) -> SessionFiles:
    return await room.use(lambda: room.sessions.files(room.id, room.owner))
