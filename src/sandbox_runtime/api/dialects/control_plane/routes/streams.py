"""Output as it comes: as server-sent events, or over a WebSocket. Both begin at any byte of each stream, so that a client that
lost its connection goes on where it was."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated, Any

from fastapi import Query, Request, Response, WebSocket
from fastapi.responses import StreamingResponse
from starlette.websockets import WebSocketDisconnect

from sandbox_runtime.api.caller import owner_of
from sandbox_runtime.api.dialects.control_plane.mapping import executions as translation
from sandbox_runtime.api.dialects.control_plane.output_events import STREAMS, Utf8EventEncoder, event_id, offsets_of_id
from sandbox_runtime.api.dialects.control_plane.responses import error_answer, router
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, sessions_of
from sandbox_runtime.api.sse import KEEP_ALIVE, KEEP_ALIVE_S, event, event_stream
from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.sessions import Sessions

routes = router("/executions", "streams")
_TAKEN_WITHIN_S = 60.0
_MOST = 2**53
Offset = Annotated[int, Query(ge=0, le=_MOST, description="Of every stream that has none of its own.")]
OwnOffset = Annotated[int | None, Query(ge=0, le=_MOST)]
Stream = Annotated[str, Query(pattern="^(stdout|stderr|both)$")]
Messages = AsyncGenerator[tuple[str, dict[str, Any], dict[str, int]] | None, None]


@routes.get("/{execution_id}/stream", response_class=StreamingResponse)
async def stream(
    request: Request,
    execution_id: Identifier,
    stream: Stream = "both",
    offset: Offset = 0,
    stdout_offset: OwnOffset = None,
    stderr_offset: OwnOffset = None,
) -> Response:
    """Output as server-sent events: stdout and stderr as they come, then one called end. Last-Event-ID goes before the offsets of
    the address. The same over a WebSocket at /api/v1/executions/{execution_id}/ws, one JSON text a message."""
    offsets = wanted_offsets(stream, offset, stdout_offset, stderr_offset, request.headers.get("last-event-id", ""))
    sessions, owner = sessions_of(request), owner_of(request)
    await sessions.executions.get(execution_id, owner)
    return event_stream(_events(_told(sessions, execution_id, offsets, owner)))


@routes.websocket("/{execution_id}/ws")
async def socket(websocket: WebSocket, execution_id: str) -> None:
    """One JSON text a message: {"type": "stdout" | "stderr" | "end", …}. What the client sends is not looked at."""
    try:
        asked = websocket.query_params
        offsets = wanted_offsets(
            asked.get("stream", "both"),
            _number(asked.get("offset", "0")),
            _number(asked["stdout_offset"]) if "stdout_offset" in asked else None,
            _number(asked["stderr_offset"]) if "stderr_offset" in asked else None,
            "",
        )
        sessions, owner = websocket.app.state.platform.sessions, owner_of(websocket)
        await sessions.executions.get(execution_id, owner)
    except SandboxError as error:
        await websocket.send_denial_response(error_answer(error, websocket.url.path))
        return
    await websocket.accept()
    with contextlib.suppress(WebSocketDisconnect, TimeoutError):
        await _spoken(websocket, _told(sessions, execution_id, offsets, owner))


def wanted_offsets(stream: str, offset: int, stdout: int | None, stderr: int | None, last_id: str) -> dict[str, int]:
    """Raises InvalidRequest."""
    if stream not in (*STREAMS, "both"):
        raise InvalidRequest(f"a stream is stdout, stderr or both, not {stream[:40]!r}")
    own = {"stdout": offset if stdout is None else stdout, "stderr": offset if stderr is None else stderr}
    if last_id:
        try:
            own |= offsets_of_id(last_id)
        except ValueError as error:
            raise InvalidRequest("Last-Event-ID is none of the ids that this stream gave") from error
    return {name: own[name] for name in STREAMS if stream in (name, "both")}


async def _told(sessions: Sessions, execution_id: str, offsets: dict[str, int], owner: str) -> Messages:
    """What happened, what to say of it, and where each stream goes on; None where nothing has happened for a while."""
    encoder = Utf8EventEncoder(offsets)
    async with contextlib.aclosing(_impatient(sessions.executions.follow(execution_id, offsets, owner))) as pieces:
        async for piece in pieces:
            if piece is None:
                yield None
                continue
            for message in encoder.messages(piece):
                yield piece.stream, message, encoder.offsets
    for message in encoder.last():
        yield message["stream"], message, encoder.offsets
    # The last byte is there a moment before the row is.
    execution = await sessions.executions.wait(execution_id, _TAKEN_WITHIN_S, owner)
    yield "end", translation.status_of(execution).model_dump(mode="json"), encoder.offsets


async def _impatient(source: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    """As the source, and None each time it has said nothing for KEEP_ALIVE_S."""
    following: asyncio.Future[Any] | None = None
    try:
        while True:
            following = following or asyncio.ensure_future(anext(source))
            done, _ = await asyncio.wait((following,), timeout=KEEP_ALIVE_S)
            if not done:
                yield None
                continue
            try:
                found = following.result()
            except StopAsyncIteration:
                return
            following = None
            yield found
    finally:
        if following is not None:
            following.cancel()
            await asyncio.wait((following,))


async def _events(messages: Messages) -> AsyncIterator[str]:
    async with contextlib.aclosing(messages):
        async for told in messages:
            if told is None:
                yield KEEP_ALIVE
            else:
                name, message, offsets = told
                yield event(message, name=name, id=event_id(offsets))


async def _spoken(websocket: WebSocket, messages: Messages) -> None:
    """A client that hangs up is noticed at once, one that takes nothing after a while."""
    speaking = asyncio.ensure_future(_speak(websocket, messages))
    listening = asyncio.ensure_future(_until_gone(websocket))
    try:
        done, _ = await asyncio.wait((speaking, listening), return_when=asyncio.FIRST_COMPLETED)
        if speaking in done:
            speaking.result()
            await websocket.close()
    finally:
        for task in (speaking, listening):
            task.cancel()
        await asyncio.wait((speaking, listening))


async def _speak(websocket: WebSocket, messages: Messages) -> None:
    async with contextlib.aclosing(messages):
        async for told in messages:
            message = {"type": "alive"} if told is None else {"type": told[0], **told[1]}
            async with asyncio.timeout(_TAKEN_WITHIN_S):
                await websocket.send_text(json.dumps(message))


async def _until_gone(websocket: WebSocket) -> None:
    while (await websocket.receive())["type"] != "websocket.disconnect":
        pass


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise InvalidRequest("an offset is a whole number that is not negative")
    return int(text)
