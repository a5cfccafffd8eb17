"""Whole folders of a session, as one archive out and in; and what changes in them, as it happens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse

from sandbox_runtime.api.dialects.control_plane.responses import answer, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.files import Folder, relative
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, owner_of, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import files as wire
from sandbox_runtime.api.file_response import ClosingStream
from sandbox_runtime.api.number_fields import Number
from sandbox_runtime.api.requests import body_chunks
from sandbox_runtime.api.sse import KEEP_ALIVE, KEEP_ALIVE_S, event, event_stream
from sandbox_runtime.workspace.archives import Format
from sandbox_runtime.workspace.watcher import Watch

routes = router("/sessions/{session_id}", "files")
LONGEST_WATCH_S = 3600.0
For = Annotated[Number, Query(gt=0, le=LONGEST_WATCH_S, description="Seconds after which the stream ends.")]


@routes.get("/archive", response_class=StreamingResponse)
async def pack_folder(
    request: Request, session_id: Identifier, path: Folder = "", form: Annotated[Format, Query(alias="format")] = Format.tar_gz
) -> Response:
    """A folder as one archive."""
    files = await sessions_of(request).files.open(session_id, owner_of(request))
    packed = files.archive(relative(path), form)
    # The first piece tells whether there is such a folder; afterwards it is too late for another status.
    first = await anext(packed, b"")
    stack = AsyncExitStack()
    stack.push_async_callback(packed.aclose)  # type: ignore[attr-defined]
    headers = {"Content-Disposition": f'attachment; filename="files.{form.value}"', "X-Content-Type-Options": "nosniff"}
    return ClosingStream(_with_first(first, packed), stack, headers, form.content_type)


@routes.post("/archive", responses=returns(wire.UnpackResult))
async def unpack_folder(request: Request, session_id: Identifier, path: Folder = "") -> Response:
    """Unpack an archive into a folder. The body is a tar, tar.gz or zip."""
    sessions, owner, folder = sessions_of(request), owner_of(request), relative(path)
    unpacked = await (await sessions.files.open(session_id, owner)).unpack(body_chunks(request), folder)
    await sessions.files.save(session_id, owner)
    return answer(wire.UnpackResult(session_id=session_id, path=folder, files=unpacked.files, size=unpacked.size_bytes))


@routes.get("/watch", response_class=StreamingResponse)
async def watch_folder(
    request: Request, session_id: Identifier, path: Folder = "", recursive: bool = True, seconds: For = LONGEST_WATCH_S
) -> Response:
    """Changes in a folder as server-sent events: change, with kind, name and is_folder. The first one, ready, says that nothing
    after it is missed."""
    files = await sessions_of(request).files.open(session_id, owner_of(request))
    stack = AsyncExitStack()
    watch = await stack.enter_async_context(files.watch(relative(path), recursive=recursive))
    return event_stream(_changes(watch, seconds), stack)


async def _with_first(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


async def _changes(watch: Watch, seconds: float) -> AsyncIterator[str]:
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
