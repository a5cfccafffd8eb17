"""A keep-alive HTTP/1.1 client with as little in it as will do: the load generator must not be what is measured.

Time runs from the moment before a request is written until the last byte of its answer has come in.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

import httptools

from sandbox_runtime.errors import InvalidRequest, PlatformFault

CONNECT_WITHIN_S = 10.0
ANSWER_WITHIN_S = 120.0


@dataclass(frozen=True, slots=True)
class Target:
    host: str
    port: int
    path: str
    tls: bool = False

    @classmethod
    def of(cls, url: str, path: str = "/run_code") -> Target:
        """url is that of the server; the path is added to it."""
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidRequest(f"{url!r} is no address of a server; write it as http://HOST:PORT")
        try:
            port = parts.port
        except ValueError as error:
            raise InvalidRequest(f"{url!r}: {error}") from error
        tls = parts.scheme == "https"
        return cls(parts.hostname, port or (443 if tls else 80), parts.path.rstrip("/") + path, tls)

    def post(self, body: bytes) -> bytes:
        head = f"POST {self.path} HTTP/1.1\r\nHost: {self._authority}\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def get(self) -> bytes:
        return f"GET {self.path} HTTP/1.1\r\nHost: {self._authority}\r\n\r\n".encode()

    @property
    def _authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    took_s: float


class NoAnswer(PlatformFault):
    """The request was sent and nothing came back in time."""


class Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._waiting: asyncio.Future[Answer] | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self._begun = 0.0
        self._keep_alive = True

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, request: bytes) -> Answer:
        if self._transport is None:
            raise PlatformFault("the connection is closed")
        self._waiting = asyncio.get_running_loop().create_future()
        self._begun = time.perf_counter()
        self._transport.write(request)
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                return await self._waiting
        except TimeoutError as error:
            raise NoAnswer(f"no answer within {ANSWER_WITHIN_S:g} s") from error
        finally:
            if not self._waiting.done() or not self._keep_alive:
                self.close()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(f"the answer is no HTTP: {error}")
            self.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._fail(f"the connection was closed before the answer came: {error or 'by the server'}")

    def on_body(self, data: bytes) -> None:
        self._body.append(data)

    def on_message_complete(self) -> None:
        took_s = time.perf_counter() - self._begun
        body, self._body = b"".join(self._body), []
        self._keep_alive = self._parser.should_keep_alive()
        status = self._parser.get_status_code()
        self._parser = httptools.HttpResponseParser(self)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(Answer(status, body, took_s))

    def _fail(self, reason: str) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(PlatformFault(reason))


async def connect(target: Target) -> Connection:
    loop = asyncio.get_running_loop()
    secure = ssl.create_default_context() if target.tls else None
    try:
        async with asyncio.timeout(CONNECT_WITHIN_S):
            _, connection = await loop.create_connection(Connection, target.host, target.port, ssl=secure)
    except (OSError, TimeoutError) as error:
        raise PlatformFault(f"{target.host}:{target.port} cannot be reached: {str(error) or 'no answer'}") from error
    return connection
