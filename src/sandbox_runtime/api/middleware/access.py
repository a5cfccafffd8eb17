"""Checks before any route: host and origin, API key, rate and body size.

This is plain ASGI middleware because every request passes it. The operator's key is compared in constant time, other keys by
their digest. A body with a declared length is checked before a byte is read; one without is counted as it arrives. Reports of
nodes use their own token, which their routes check.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox_runtime.api import errors
from sandbox_runtime.api.caller import OPERATOR, SCOPE_KEY, Caller
from sandbox_runtime.api.dialect import PathRules
from sandbox_runtime.api.middleware import origins
from sandbox_runtime.api.middleware.keyring import Keyring, Keys, key_from_headers
from sandbox_runtime.api.pages import is_page
from sandbox_runtime.errors import Denied, SandboxError, Unavailable
from sandbox_runtime.rate_limit import KeyedRateLimiter

_READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_FORM_BYTES = 1024 * 1024
"""Allowed for the other fields of a form that uploads a file."""
_CROSS_SITE = (
    "a page of another site caused this request (Sec-Fetch-Site): open the address directly, or add the site to cors_origins "
    "(SANDBOX_CORS_ORIGINS)"
)


class _TooLarge(Exception):
    pass


@dataclass(frozen=True, slots=True)
class AccessRules:
    requires_keys: bool
    """Serve only pages and health checks without a key."""
    max_body_bytes: int
    max_upload_bytes: int
    max_batch_bytes: int
    hosts: frozenset[str] = frozenset()
    """Allowed host names besides those of the loopback interface."""
    origins: frozenset[str] = frozenset()
    """Allowed origins besides those of the loopback interface."""
    any_origin: bool = False
    """Pages of every site may use this server, because it requires a key."""

    @property
    def checks_hosts(self) -> bool:
        """Against DNS rebinding. If keys are required, a page that rebinds a name to this server still lacks a key."""
        return bool(self.hosts or not self.requires_keys) and origins.ANY not in self.hosts


class AccessMiddleware:
    def __init__(
        self, app: ASGIApp, *, rules: AccessRules, paths: PathRules, keyring: Keyring, rate_limiter: KeyedRateLimiter
    ) -> None:
        self._app = app
        self._rules = rules
        self._paths = paths
        self._keyring = keyring
        self._rate_limiter = rate_limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        with contextlib.suppress(ClientDisconnect):
            await self._serve(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Mapping[bytes, bytes] = dict(scope["headers"])
        error = self._check_origin(scope, headers) or await self._authenticate(scope, headers) or self._check_size(scope, headers)
        if error is not None:
            await error(scope, receive, send)
        elif b"content-length" in headers or b"transfer-encoding" not in headers:
            await self._app(scope, receive, send)
        else:
            await self._serve_counted(scope, receive, send)

    def _check_origin(self, scope: Scope, headers: Mapping[bytes, bytes]) -> JSONResponse | None:
        rules = self._rules
        if rules.checks_hosts and origins.foreign_host(headers.get(b"host"), rules.hosts):
            return _error_response(403, "unknown host name: add it to allowed_hosts (SANDBOX_ALLOWED_HOSTS)")
        if not rules.requires_keys and origins.foreign_origin(headers.get(b"origin"), rules.origins):
            return _error_response(403, "requests from pages of other sites are refused: set api_key (SANDBOX_API_KEY)")
        if not rules.any_origin and origins.is_cross_site(headers, rules.origins) and not self._is_harmless(scope):
            return _error_response(403, _CROSS_SITE)
        return None

    async def _authenticate(self, scope: Scope, headers: Mapping[bytes, bytes]) -> JSONResponse | None:
        """Put the caller into the scope, where routes find it. Returns an error response if it may not call this route."""
        if self._is_open(scope):
            return None
        try:
            caller = await self._find_caller(scope, headers)
        except SandboxError as error:
            return errors.error_response(error)
        if caller is None:
            text = "an API key is required: send it as Authorization: Bearer or X-API-Key"
            return _error_response(401, text, {"WWW-Authenticate": "Bearer"})
        scope[SCOPE_KEY] = caller
        return self._check_grants(scope, caller)

    async def _find_caller(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Caller | None:
        if not self._rules.requires_keys:
            # A server started by another program (uvicorn, gunicorn) may listen on an address that our settings do not name.
            if origins.foreign_client(scope.get("client")):
                raise Denied("without keys only this machine is served: set api_key (SANDBOX_API_KEY)")
            return OPERATOR
        return await self._keyring.caller(key_from_headers(headers), _stored_keys(scope))

    def _check_grants(self, scope: Scope, caller: Caller) -> JSONResponse | None:
        if caller.grants.read_only and scope.get("method", "GET") not in _READ_METHODS:
            return _error_response(403, "this key is read-only (scope read)")
        wait_s = self._rate_limiter.take(caller.key, caller.grants.rate_per_minute)
        if wait_s:
            text = "too many requests per minute with this key: wait as long as Retry-After says"
            return JSONResponse(_error_body(429, text), 429, {"Retry-After": str(math.ceil(wait_s))})
        return None

    def _is_open(self, scope: Scope) -> bool:
        path: str = scope["path"]
        return bool(self._paths.open.match(path) or self._paths.token.match(path)) or is_page(scope.get("method", ""), path)

    def _is_harmless(self, scope: Scope) -> bool:
        """Whether the request only reads a public page, or a file whose address contains a token."""
        method, path = scope.get("method", ""), scope["path"]
        if method not in _READ_METHODS:
            return False
        rules = (self._paths.open, self._paths.linkable, self._paths.token)
        return is_page(method, path) or any(rule.match(path) for rule in rules)

    def _check_size(self, scope: Scope, headers: Mapping[bytes, bytes]) -> JSONResponse | None:
        declared = headers.get(b"content-length", b"0")
        if not declared.isdigit():
            return _error_response(400, "Content-Length is not a number")
        max_bytes = self._max_body_bytes(scope)
        return _too_large_response(max_bytes) if len(declared) > 18 or int(declared) > max_bytes else None

    def _max_body_bytes(self, scope: Scope) -> int:
        rules, path = self._rules, scope["path"]
        if self._paths.batch.match(path) and _is_streamed(scope):
            return rules.max_batch_bytes + _FORM_BYTES
        return rules.max_upload_bytes + _FORM_BYTES if self._paths.upload.match(path) else rules.max_body_bytes

    async def _serve_counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request without a declared length; count its body as it arrives."""
        max_bytes = left = self._max_body_bytes(scope)
        started = False

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
                await _too_large_response(max_bytes)(scope, receive, send)


def _stored_keys(scope: Scope) -> Keys | None:
    """Return None if this server has no store."""
    try:
        keys: Keys = scope["app"].state.platform.sessions.store.keys
    except Unavailable:
        return None
    return keys


def _is_streamed(scope: Scope) -> bool:
    """JSON objects are read into memory; JSON lines and files are streamed."""
    content_type = dict(scope["headers"]).get(b"content-type", b"application/json")
    return not content_type.lower().startswith(b"application/json")


def _error_response(status: int, text: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(_error_body(status, text), status, {**(headers or {}), "Connection": "close"})


def _error_body(status: int, text: str) -> dict[str, str]:
    """The fields of every dialect: only a route knows which dialect the request belongs to."""
    return {"detail": text, "error": HTTPStatus(status).phrase, "message": text}


def _too_large_response(max_bytes: int) -> JSONResponse:
    settings = "max_request_bytes, session_file_max_bytes, batch_max_bytes"
    return _error_response(413, f"the request body is larger than {max_bytes} bytes (settings {settings})")
