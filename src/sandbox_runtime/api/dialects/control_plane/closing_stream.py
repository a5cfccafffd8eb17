"""Answers that hold something open while they are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class Sending(StreamingResponse):
    """Closes the stack when all was sent, and also when the client left before anything was."""

    def __init__(
        self,
        body: AsyncIterator[bytes],
        stack: AsyncExitStack,
        headers: Mapping[str, str],
        media_type: str = "application/octet-stream",
    ) -> None:
        super().__init__(body, media_type=media_type, headers=dict(headers))
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._stack:
            await super().__call__(scope, receive, send)
