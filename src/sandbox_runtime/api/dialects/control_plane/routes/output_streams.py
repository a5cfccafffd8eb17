"""Live output, as server-sent events or over a WebSocket. Both start at any byte of each stream, so clients can resume."""

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
from sandbox_runtime.api.dialects.control_plane.mapping import executions as mapping
from sandbox_runtime.api.dialects.control_plane.mapping.output_events import STREAMS, Utf8EventEncoder, event_id, parse_event_id
from sandbox_runtime.api.dialects.control_plane.responses import exception_response, new_router
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, sessions_of
from sandbox_runtime.api.sse import KEEP_ALIVE, KEEP_ALIVE_S, event, event_stream
from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.sessions import Sessions

router = new_router("/executions", "streams")
_SEND_TIMEOUT_S = 60.0
_MAX_OFFSET = 2**53
Offset = Annotated[int, Query(ge=0, le=_MAX_OFFSET, description="Start at this byte of each stream that has no own offset.")]
StreamOffset = Annotated[int | None, Query(ge=0, le=_MAX_OFFSET)]
Stream = Annotated[str, Query(pattern="^(stdout|stderr|both)$")]
Messages = AsyncGenerator[tuple[str, dict[str, Any], dict[str, int]] | None, None]


@router.get("/{execution_id}/stream", response_class=StreamingResponse)
async def stream(
    request: Request,
    execution_id: Identifier,
    stream: Stream = "both",
    offset: Offset = 0,
    stdout_offset: StreamOffset = None,
    stderr_offset: StreamOffset = None,
) -> Response:
    """Stream output as server-sent events `stdout` and `stderr`, then `end`. Last-Event-ID overrides the offsets. The same stream
    is available over a WebSocket at /api/v1/executions/{execution_id}/ws, one JSON object per message."""
    offsets = start_offsets(stream, offset, stdout_offset, stderr_offset, request.headers.get("last-event-id", ""))
    sessions, owner = sessions_of(request), owner_of(request)
    await sessions.executions.get(execution_id, owner)
    return event_stream(_events(_messages(sessions, execution_id, offsets, owner)))


@router.websocket("/{execution_id}/ws")
async def socket(websocket: WebSocket, execution_id: str) -> None:
    """Send one JSON object per message: {"type": "stdout" | "stderr" | "end", …}. Messages of the client are ignored."""
    try:
        query = websocket.query_params
        offsets = start_offsets(
            query.get("stream", "both"),
            _parse_offset(query.get("offset", "0")),
            _parse_offset(query["stdout_offset"]) if "stdout_offset" in query else None,
            _parse_offset(query["stderr_offset"]) if "stderr_offset" in query else None,
            "",
        )
        sessions, owner = websocket.app.state.platform.sessions, owner_of(websocket)
        await sessions.executions.get(execution_id, owner)
    except SandboxError as error:
        await websocket.send_denial_response(exception_response(error, websocket.url.path))
        return
    await websocket.accept()
    with contextlib.suppress(WebSocketDisconnect, TimeoutError):
        await _serve_websocket(websocket, _messages(sessions, execution_id, offsets, owner))


def start_offsets(stream: str, offset: int, stdout: int | None, stderr: int | None, last_id: str) -> dict[str, int]:
    """Return the start offset of each requested stream. Raises InvalidRequest."""
    if stream not in (*STREAMS, "both"):
        raise InvalidRequest(f"stream must be stdout, stderr or both, not {stream[:40]!r}")
    own = {"stdout": offset if stdout is None else stdout, "stderr": offset if stderr is None else stderr}
    if last_id:
        try:
            own |= parse_event_id(last_id)
        except ValueError as error:
            raise InvalidRequest("Last-Event-ID is not an id of this stream") from error
    return {name: own[name] for name in STREAMS if stream in (name, "both")}


async def _messages(sessions: Sessions, execution_id: str, offsets: dict[str, int], owner: str) -> Messages:
    """Yield the type of each message, the message, and the next offset of each stream; None after KEEP_ALIVE_S of silence."""
    encoder = Utf8EventEncoder(offsets)
    async with contextlib.aclosing(_with_keep_alive(sessions.executions.follow(execution_id, offsets, owner))) as pieces:
        async for piece in pieces:
            if piece is None:
                yield None
                continue
            for message in encoder.messages(piece):
                yield piece.stream, message, encoder.offsets
    for message in encoder.last():
        yield message["stream"], message, encoder.offsets
    # The last byte arrives a moment before the row is written.
    execution = await sessions.executions.wait(execution_id, _SEND_TIMEOUT_S, owner)
    yield "end", mapping.to_status(execution).model_dump(mode="json"), encoder.offsets


async def _with_keep_alive(source: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    """Yield the items of the source, and None after every KEEP_ALIVE_S without one."""
    pending: asyncio.Future[Any] | None = None
    try:
        while True:
            pending = pending or asyncio.ensure_future(anext(source))
            done, _ = await asyncio.wait((pending,), timeout=KEEP_ALIVE_S)
            if not done:
                yield None
                continue
            try:
                item = pending.result()
            except StopAsyncIteration:
                return
            pending = None
            yield item
    finally:
        if pending is not None:
            pending.cancel()
            await asyncio.wait((pending,))


async def _events(messages: Messages) -> AsyncIterator[str]:
    async with contextlib.aclosing(messages):
        async for item in messages:
            if item is None:
                yield KEEP_ALIVE
            else:
                name, message, offsets = item
                yield event(message, name=name, id=event_id(offsets))


async def _serve_websocket(websocket: WebSocket, messages: Messages) -> None:
    """Send the messages until they end or the client disconnects. A client that stops reading times out."""
    sending = asyncio.ensure_future(_send_all(websocket, messages))
    receiving = asyncio.ensure_future(_wait_for_disconnect(websocket))
    try:
        done, _ = await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
        if sending in done:
            sending.result()
            await websocket.close()
    finally:
        for task in (sending, receiving):
            task.cancel()
        await asyncio.wait((sending, receiving))


async def _send_all(websocket: WebSocket, messages: Messages) -> None:
    async with contextlib.aclosing(messages):
        async for item in messages:
            message = {"type": "alive"} if item is None else {"type": item[0], **item[1]}
            async with asyncio.timeout(_SEND_TIMEOUT_S):
                await websocket.send_text(json.dumps(message))


async def _wait_for_disconnect(websocket: WebSocket) -> None:
    while (await websocket.receive())["type"] != "websocket.disconnect":
        pass


def _parse_offset(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise InvalidRequest("an offset must be a non-negative integer")
    return int(text)
