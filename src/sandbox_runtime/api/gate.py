"""What every request passes before any route sees it: who is asking, and how much they bring.

A plain ASGI layer, because it is on the way of every run. The key is compared in constant time. A body with a declared length is
judged by its header before a byte is read; one without is counted while it comes in.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox_runtime.api.pages import is_page

OPEN_PATHS = frozenset({"/health", "/v1/ping"})


class _TooLarge(Exception):
    pass


class Gate:
    def __init__(self, app: ASGIApp, *, api_key: str, max_body_bytes: int) -> None:
        self._app = app
        self._key = api_key.encode()
        self._most = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            with contextlib.suppress(ClientDisconnect):
                await self._http(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Mapping[bytes, bytes] = dict(scope["headers"])
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif b"content-length" in headers or b"transfer-encoding" not in headers:
            await self._app(scope, receive, send)
        else:
            await self._counted(scope, receive, send)

    def _refusal(self, scope: Scope, headers: Mapping[bytes, bytes]) -> JSONResponse | None:
        if self._key and not self._is_open(scope) and not self._has_key(headers):
            text = "an API key is needed: send it as Authorization: Bearer or as X-API-Key"
            return JSONResponse({"detail": text}, 401, {"WWW-Authenticate": "Bearer", "Connection": "close"})
        if not self._key and _foreign(headers.get(b"origin")):
            text = "requests from web pages of other sites are refused; set api_key to serve them"
            return JSONResponse({"detail": text}, 403, {"Connection": "close"})
        declared = headers.get(b"content-length", b"0")
        if not declared.isdigit():
            return JSONResponse({"detail": "Content-Length is not a number"}, 400, {"Connection": "close"})
        return self._too_large() if len(declared) > 18 or int(declared) > self._most else None

    def _is_open(self, scope: Scope) -> bool:
        return scope["path"] in OPEN_PATHS or is_page(scope["method"], scope["path"])

    def _has_key(self, headers: Mapping[bytes, bytes]) -> bool:
        scheme, _, bearer = headers.get(b"authorization", b"").partition(b" ")
        given = bearer.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
        return hmac.compare_digest(given, self._key)

    def _too_large(self) -> JSONResponse:
        text = f"the request body is larger than the {self._most} bytes allowed (setting max_request_bytes)"
        return JSONResponse({"detail": text}, 413, {"Connection": "close"})

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        left, started = self._most, False

        async def count() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise _TooLarge
            return message

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, count, watch)
        except _TooLarge:
            if not started:
                await self._too_large()(scope, receive, send)


def _foreign(origin: bytes | None) -> bool:
    """Whether a browser sent this for a page of another site. Without a key, only pages of this machine may use the server:
    otherwise any page its user visits could."""
    if origin is None:
        return False
    host = urlsplit(origin.decode("latin-1")).hostname or ""
    if host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True
