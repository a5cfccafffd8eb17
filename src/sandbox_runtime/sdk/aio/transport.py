"""Sends requests with retries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

import httpx
from pydantic import TypeAdapter

from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.sdk.endpoints import api_key, session_endpoint
from sandbox_runtime.sdk.requests import Request, parse_response
from sandbox_runtime.sdk.retry import FailedAttempt, Retries

Result = TypeVar("Result")


class Transport:
    """- `base_url`: empty: from the environment.
    - `key`: API key; None: from the environment.
    - `timeout_s`: default time a response may take; None: unlimited."""

    def __init__(self, base_url: str, key: str | None, timeout_s: float | None, max_attempts: int) -> None:
        if max_attempts < 1:
            raise InvalidRequest(f"max_attempts must be at least 1, not {max_attempts}")
        if timeout_s is not None and not timeout_s > 0:
            raise InvalidRequest(f"the timeout must be above 0 seconds, not {timeout_s:g}")
        self.base_url = session_endpoint(base_url)
        self.timeout_s = timeout_s
        self._max_attempts = max_attempts
        key = api_key() if key is None else key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # Loading certificates takes longer than an execution, so do it for HTTPS only.
        self._client = httpx.AsyncClient(headers=headers, verify=self.base_url.startswith("https://"), follow_redirects=True)

    async def call(self, request: Request, model: TypeAdapter[Result]) -> Result:
        """Send the request and return the parsed response."""
        return parse_response(model, await self._send(request, stream=False))

    async def send(self, request: Request) -> None:
        """Send the request and ignore the body of the response."""
        await self._send(request, stream=False)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[httpx.Response]:
        """Yield a response to be read piece by piece. A connection that breaks meanwhile raises httpx.TransportError."""
        response = await self._send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    async def pieces(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body piece by piece. Raises Unavailable if the connection breaks."""
        async with self.open(request) as response:
            try:
                async for piece in response.aiter_bytes():
                    yield piece
            except httpx.TransportError as error:
                raise Unavailable(f"{response.url}: the connection broke: {str(error) or type(error).__name__}") from error

    async def close(self) -> None:
        await self._client.aclose()

    async def _send(self, request: Request, *, stream: bool) -> httpx.Response:
        """Send until the response is a success. Raises when no attempt is left or another one would not help."""
        retries = Retries(self.base_url + request.path, self._max_attempts, idempotent=request.idempotent)
        while True:
            try:
                response = await self._send_once(request, stream=stream)
                if response.is_success:
                    return response
                failed = FailedAttempt.from_response(response)
            except httpx.TransportError as error:
                failed = FailedAttempt.from_error(
                    error, idempotent=request.idempotent, is_client_timeout=request.is_client_timeout
                )
            await asyncio.sleep(retries.next_delay_s(failed))

    async def _send_once(self, request: Request, *, stream: bool) -> httpx.Response:
        prepared = self._client.build_request(request.method, self.base_url + request.path, **request.options(self.timeout_s))
        response = await self._client.send(prepared, stream=stream)
        if stream and not response.is_success:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response
