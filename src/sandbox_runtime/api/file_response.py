"""A file of a session on its way out, piece by piece, to a client that may be slow but must not stand still."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from sandbox_runtime.errors import Conflict, SandboxError
from sandbox_runtime.workspace import SessionFiles

PIECE_WITHIN_S = 60.0


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
    """The file is opened, sent and closed within the answer, so that no way out leaves it open. refusal: the answer where it
    cannot be opened."""

    def __init__(
        self,
        files: SessionFiles,
        name: str,
        *,
        refusal: Callable[[SandboxError], Response],
        media_type: str = "application/octet-stream",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(media_type=media_type)
        self._files = files
        self._name = name
        self._refusal = refusal
        self._extra = dict(headers or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outgoing = _Outgoing(send)
        try:
            async with self._files.open(self._name) as download:
                headers = {**self._extra, "Content-Length": str(download.entry.size_bytes), "ETag": f'"{download.entry.etag}"'}
                answer = StreamingResponse(download.pieces(), media_type=self.media_type, headers=headers)
                await answer(scope, receive, outgoing)
        except Conflict:
            if outgoing.begun:
                return  # it became shorter: the length that was promised tells the client
            raise
        except SandboxError as error:
            if outgoing.begun:
                raise
            await self._refusal(error)(scope, receive, send)


class _Outgoing:
    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        self.begun = True
        async with asyncio.timeout(PIECE_WITHIN_S):
            await self._send(message)


def attachment(name: str) -> dict[str, str]:
    """A header that holds any name: quoted, so that nothing in it can end the header."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name.rpartition('/')[2], safe='')}"}
