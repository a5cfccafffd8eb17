"""Requests on their way: sent, sent again where that helps, answered or refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

import httpx
from pydantic import TypeAdapter

from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.sdk.endpoints import api_key, session_endpoint
from sandbox_runtime.sdk.requests import Attempts, Request, failure_of, read, reply_of

Result = TypeVar("Result")


class Transport:
    """base_url empty: as the environment says. timeout_s: how long an answer may take that needs no longer by itself."""

    def __init__(self, base_url: str, key: str | None, timeout_s: float, max_attempts: int) -> None:
        if max_attempts < 1 or not timeout_s > 0:
            raise InvalidRequest(f"max_attempts must be at least 1, timeout_s above 0; not {max_attempts} and {timeout_s:g}")
        self.base_url = session_endpoint(base_url)
        self.timeout_s = timeout_s
        self._max_attempts = max_attempts
        key = api_key() if key is None else key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # Certificates are loaded only where they are needed: that takes longer than an execution does.
        self._client = httpx.AsyncClient(headers=headers, verify=self.base_url.startswith("https://"), follow_redirects=True)

    async def call(self, request: Request, answer: TypeAdapter[Result]) -> Result:
        return read(answer, await self._answered(request, stream=False))

    async def send(self, request: Request) -> None:
        """Where the answer says no more than that it was done."""
        await self._answered(request, stream=False)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[httpx.Response]:
        """An answer that is read piece by piece. A connection that breaks meanwhile is raised as httpx.TransportError."""
        response = await self._answered(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    async def pieces(self, request: Request) -> AsyncIterator[bytes]:
        async with self.open(request) as response:
            try:
                async for piece in response.aiter_bytes():
                    yield piece
            except httpx.TransportError as error:
                raise Unavailable(f"{response.url}: the connection broke: {str(error) or type(error).__name__}") from error

    async def close(self) -> None:
        await self._client.aclose()

    async def _answered(self, request: Request, *, stream: bool) -> httpx.Response:
        attempts = Attempts(self.base_url + request.path, self._max_attempts, repeatable=request.repeatable)
        while True:
            try:
                response = await self._sent(request, stream=stream)
                if response.is_success:
                    return response
                reply = reply_of(response)
            except httpx.TransportError as error:
                reply = failure_of(error, repeatable=request.repeatable)
            await asyncio.sleep(attempts.pause_after(reply))

    async def _sent(self, request: Request, *, stream: bool) -> httpx.Response:
        made = self._client.build_request(request.method, self.base_url + request.path, **request.options(self.timeout_s))
        response = await self._client.send(made, stream=stream)
        if stream and not response.is_success:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response
