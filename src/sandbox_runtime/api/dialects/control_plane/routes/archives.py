"""Download and upload folders of a session as archives, and watch them for changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse

from sandbox_runtime.api.dialects.control_plane.responses import json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.files import Folder, relative
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, owner_of, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import files as schemas
from sandbox_runtime.api.file_response import ClosingStream
from sandbox_runtime.api.number_fields import Number
from sandbox_runtime.api.requests import body_chunks
from sandbox_runtime.api.sse import KEEP_ALIVE, KEEP_ALIVE_S, event, event_stream
from sandbox_runtime.workspace.archives import Format
from sandbox_runtime.workspace.watcher import Watch

router = new_router("/sessions/{session_id}", "files")
MAX_WATCH_S = 3600.0
Seconds = Annotated[Number, Query(gt=0, le=MAX_WATCH_S, description="Seconds after which the stream ends.")]


@router.get("/archive", response_class=StreamingResponse)
async def pack_folder(
    request: Request, session_id: Identifier, path: Folder = "", form: Annotated[Format, Query(alias="format")] = Format.tar_gz
) -> Response:
    """Download a folder as an archive."""
    files = await sessions_of(request).files.open(session_id, owner_of(request))
    archive = files.archive(relative(path), form)
    # The first chunk raises if the folder does not exist; afterwards the status has been sent.
    first = await anext(archive, b"")
    stack = AsyncExitStack()
    stack.push_async_callback(archive.aclose)  # type: ignore[attr-defined]
    headers = {"Content-Disposition": f'attachment; filename="files.{form.value}"', "X-Content-Type-Options": "nosniff"}
    return ClosingStream(_chain(first, archive), stack, headers, form.content_type)


@router.post("/archive", responses=returns(schemas.UnpackResponse))
async def unpack_folder(request: Request, session_id: Identifier, path: Folder = "") -> Response:
    """Unpack an archive (tar, tar.gz or zip) into a folder. The body is the archive."""
    sessions, owner, folder = sessions_of(request), owner_of(request), relative(path)
    unpacked = await (await sessions.files.open(session_id, owner)).unpack(body_chunks(request), folder)
    await sessions.files.save(session_id, owner)
    return json_response(
        schemas.UnpackResponse(session_id=session_id, path=folder, files=unpacked.files, size=unpacked.size_bytes)
    )


@router.get("/watch", response_class=StreamingResponse)
async def watch_folder(
    request: Request, session_id: Identifier, path: Folder = "", recursive: bool = True, seconds: Seconds = MAX_WATCH_S
) -> Response:
    """Stream the changes in a folder as server-sent events `change` with kind, name and is_folder. No change after the first
    event, `ready`, is missed."""
    files = await sessions_of(request).files.open(session_id, owner_of(request))
    stack = AsyncExitStack()
    watch = await stack.enter_async_context(files.watch(relative(path), recursive=recursive))
    return event_stream(_change_events(watch, seconds), stack)


async def _chain(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


async def _change_events(watch: Watch, seconds: float) -> AsyncIterator[str]:
    yield event({}, name="ready")
    left_s = seconds
    while left_s > 0:
        waited_s = min(KEEP_ALIVE_S, left_s)
        changes = await watch.next(waited_s)
        for change in changes:
            yield event({"kind": change.kind, "name": change.name, "is_folder": change.is_folder}, name="change")
        if not changes:
            left_s -= waited_s
            yield KEEP_ALIVE
