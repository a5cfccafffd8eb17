"""Streaming responses: files of sessions, and streams that hold resources open. A client that stops reading times out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from sandbox_runtime.errors import Conflict, SandboxError
from sandbox_runtime.workspace import SessionFiles

CHUNK_TIMEOUT_S = 60.0


class ClosingStream(StreamingResponse):
    """A streaming response that closes `stack` at its end, also if the client disconnects before the first byte."""

    def __init__(
        self,
        body: AsyncIterator[bytes] | AsyncIterator[str],
        stack: AsyncExitStack | None,
        headers: Mapping[str, str],
        media_type: str = "application/octet-stream",
    ) -> None:
        super().__init__(body, media_type=media_type, headers=headers)
        self._stack = stack or AsyncExitStack()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._stack:
            await super().__call__(scope, receive, send)


class FileDownload(Response):
    """A file of a session. It is opened, sent and closed within the response, so it never stays open.

    on_error: returns the response if the file cannot be opened.
    """

    def __init__(
        self,
        files: SessionFiles,
        name: str,
        *,
        on_error: Callable[[SandboxError], Response],
        media_type: str = "application/octet-stream",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(media_type=media_type)
        self._files = files
        self._name = name
        self._on_error = on_error
        self._extra_headers = dict(headers or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        timed_send = _TimedSend(send)
        try:
            async with self._files.open(self._name) as download:
                headers = {
                    **self._extra_headers,
                    "Content-Length": str(download.entry.size_bytes),
                    "ETag": f'"{download.entry.etag}"',
                }
                response = StreamingResponse(download.chunks(), media_type=self.media_type, headers=headers)
                await response(scope, receive, timed_send)
        except Conflict:
            if timed_send.started:
                return  # the file became shorter: the client sees that Content-Length does not match
            raise
        except SandboxError as error:
            if timed_send.started:
                raise
            await self._on_error(error)(scope, receive, send)


class _TimedSend:
    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def __call__(self, message: Message) -> None:
        self.started = True
        async with asyncio.timeout(CHUNK_TIMEOUT_S):
            await self._send(message)


def attachment_headers(name: str) -> dict[str, str]:
    """Return a Content-Disposition header. The name is quoted, so it cannot end the header."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name.rpartition('/')[2], safe='')}"}
