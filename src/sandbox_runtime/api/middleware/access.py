"""What every request passes before any route sees it: by which name, from where, who is asking, how often, how much they bring.

A plain ASGI layer, because it is on the way of every run. The operator's key is compared in constant time, keys of the store by
their digest. A body with a declared length is judged by its header before a byte is read; one without is counted while it comes
in. Callbacks of nodes show a token of their own, which their routes check.
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
from sandbox_runtime.api.middleware.keyring import Keyring, Keys, shown_key
from sandbox_runtime.api.pages import is_page
from sandbox_runtime.errors import Denied, SandboxError, Unavailable
from sandbox_runtime.rate_limit import KeyedRateLimiter

_LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})
_FORM_BYTES = 1024 * 1024
"""What a form may bring beside its file."""


_CROSS_SITE = (
    "a page of another site caused this request (Sec-Fetch-Site), and it is not allowed to: open the address by hand, or name "
    "the site in cors_origins (SANDBOX_CORS_ORIGINS)"
)


class _TooLarge(Exception):
    pass


@dataclass(frozen=True, slots=True)
class Rules:
    """requires_keys: nothing but pages and health is served without a key. hosts, origins: names of other machines that are fine.
    any_origin: pages of every site may use this server, because a key protects it."""

    requires_keys: bool
    max_body_bytes: int
    max_upload_bytes: int
    max_batch_bytes: int
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    any_origin: bool = False

    @property
    def names_matter(self) -> bool:
        """Where a key is asked for, a name that points here by trickery opens nothing."""
        return bool(self.hosts or not self.requires_keys) and origins.ANY not in self.hosts


class Gate:
    def __init__(self, app: ASGIApp, *, rules: Rules, paths: PathRules, keyring: Keyring, rate_limiter: KeyedRateLimiter) -> None:
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
            await self._pass(scope, receive, send)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Mapping[bytes, bytes] = dict(scope["headers"])
        refusal = self._unwelcome(scope, headers) or await self._unknown(scope, headers) or self._oversized(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif b"content-length" in headers or b"transfer-encoding" not in headers:
            await self._app(scope, receive, send)
        else:
            await self._counted(scope, receive, send)

    def _unwelcome(self, scope: Scope, headers: Mapping[bytes, bytes]) -> JSONResponse | None:
        rules = self._rules
        if rules.names_matter and origins.foreign_host(headers.get(b"host"), rules.hosts):
            return _refused(403, "this server is not called that: name it in allowed_hosts (SANDBOX_ALLOWED_HOSTS)")
        if not rules.requires_keys and origins.foreign_origin(headers.get(b"origin"), rules.origins):
            return _refused(403, "requests from web pages of other sites are refused; set api_key to serve them")
        if not rules.any_origin and origins.sent_by_another_site(headers, rules.origins) and not self._only_reads(scope):
            return _refused(403, _CROSS_SITE)
        return None

    async def _unknown(self, scope: Scope, headers: Mapping[bytes, bytes]) -> JSONResponse | None:
        """Also leaves the caller where routes find it."""
        if self._is_open(scope):
            return None
        try:
            caller = await self._caller(scope, headers)
        except SandboxError as error:
            return errors.answer(error)
        if caller is None:
            text = "an API key is needed: send it as Authorization: Bearer or as X-API-Key"
            return _refused(401, text, {"WWW-Authenticate": "Bearer"})
        scope[SCOPE_KEY] = caller
        return self._unfit(scope, caller)

    async def _caller(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Caller | None:
        if not self._rules.requires_keys:
            # Some servers listen where their own flags say, whatever our settings are.
            if origins.foreign_client(scope.get("client")):
                raise Denied("without keys this server serves its own machine alone: set api_key (SANDBOX_API_KEY)")
            return OPERATOR
        return await self._keyring.caller(shown_key(headers), _keys_of(scope))

    def _unfit(self, scope: Scope, caller: Caller) -> JSONResponse | None:
        if caller.grants.read_only and scope.get("method", "GET") not in _LOOKING:
            return _refused(403, "this key may look and change nothing (its scope is read)")
        wait_s = self._rate_limiter.take(caller.key, caller.grants.rate_per_minute)
        if wait_s:
            text = "too many requests in a minute with this key; try again later"
            return JSONResponse(_told(429, text), 429, {"Retry-After": str(math.ceil(wait_s))})
        return None

    def _is_open(self, scope: Scope) -> bool:
        path: str = scope["path"]
        return bool(self._paths.open.match(path) or self._paths.token.match(path)) or is_page(scope.get("method", ""), path)

    def _only_reads(self, scope: Scope) -> bool:
        """Whether the request is for a public page, or for a file whose address carries a token."""
        method, path = scope.get("method", ""), scope["path"]
        if method not in _LOOKING:
            return False
        rules = (self._paths.open, self._paths.linkable, self._paths.token)
        return is_page(method, path) or any(rule.match(path) for rule in rules)

    def _oversized(self, scope: Scope, headers: Mapping[bytes, bytes]) -> JSONResponse | None:
        declared = headers.get(b"content-length", b"0")
        if not declared.isdigit():
            return _refused(400, "Content-Length is not a number")
        most = self._most(scope)
        return _too_large(most) if len(declared) > 18 or int(declared) > most else None

    def _most(self, scope: Scope) -> int:
        rules, path = self._rules, scope["path"]
        if self._paths.batch.match(path) and _is_streamed(scope):
            return rules.max_batch_bytes + _FORM_BYTES
        return rules.max_upload_bytes + _FORM_BYTES if self._paths.upload.match(path) else rules.max_body_bytes

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = left = self._most(scope)
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
                await _too_large(most)(scope, receive, send)


def _keys_of(scope: Scope) -> Keys | None:
    """None where this server has no store."""
    try:
        keys: Keys = scope["app"].state.platform.sessions.store.keys
    except Unavailable:
        return None
    return keys


def _is_streamed(scope: Scope) -> bool:
    """A JSON object is read as a whole, into memory; lines and files are not."""
    kind = dict(scope["headers"]).get(b"content-type", b"application/json")
    return not kind.lower().startswith(b"application/json")


def _refused(status: int, text: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(_told(status, text), status, {**(headers or {}), "Connection": "close"})


def _told(status: int, text: str) -> dict[str, str]:
    """In the words of every protocol at once: which one it would have been, only a route knows."""
    return {"detail": text, "error": HTTPStatus(status).phrase, "message": text}


def _too_large(most: int) -> JSONResponse:
    named = "max_request_bytes, session_file_max_bytes, batch_max_bytes"
    text = f"the request body is larger than the {most} bytes allowed (settings {named})"
    return _refused(413, text)
