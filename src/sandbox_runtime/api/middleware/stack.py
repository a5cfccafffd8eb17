"""The layers around the app, from the outside in: which web pages may ask, the gate, and smaller answers for those who take them
packed. Each is made from the settings alone."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox_runtime.api.middleware.access import Gate, Rules
from sandbox_runtime.api.middleware.keyring import Keyring
from sandbox_runtime.api.middleware.origins import ANY
from sandbox_runtime.rate_limit import KeyedRateLimiter
from sandbox_runtime.settings import Settings

PACKED_PATHS = "/api/v1/"
_PACK_FROM_BYTES = 1000
_PACK_LEVEL = 5
_AS_THEY_ARE = ("files/", "/judge/batches/")
_SHOWN_HEADERS = ("X-Request-ID", "X-Process-Time", "Retry-After")


def install(app: FastAPI, settings: Settings) -> None:
    """The last that is added is the outermost: a preflight carries no key, so it is answered before the gate."""
    app.add_middleware(Packing)
    app.add_middleware(
        Gate,
        rules=rules_of(settings),
        keyring=Keyring(settings.api_key),
        rate_limiter=KeyedRateLimiter(settings.rate_limit_per_minute),
    )
    allowed = origins_of(settings)
    if allowed:
        app.add_middleware(
            CORSMiddleware, allow_origins=allowed, allow_methods=["*"], allow_headers=["*"], expose_headers=_SHOWN_HEADERS
        )


def rules_of(settings: Settings) -> Rules:
    return Rules(
        keys_asked=settings.keys_asked,
        max_body_bytes=settings.max_request_bytes,
        max_upload_bytes=settings.session_file_max_bytes,
        max_batch_bytes=settings.batch_max_bytes,
        hosts=frozenset(settings.allowed_hosts),
        origins=frozenset(settings.cors_origins) - {ANY},
        any_origin=settings.keys_asked and ANY in settings.cors_origins,
    )


def origins_of(settings: Settings) -> list[str]:
    """Never all of them where no key stands in the way."""
    return [origin for origin in settings.cors_origins if origin != ANY or settings.keys_asked]


class Packing:
    """gzip for the answers of the control plane; others pass untouched: runs are in a hurry, and files are
    what they are."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._packed = GZipMiddleware(app, minimum_size=_PACK_FROM_BYTES, compresslevel=_PACK_LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        packs = (
            scope["type"] == "http"
            and scope["path"].startswith(PACKED_PATHS)
            and not any(part in scope["path"] for part in _AS_THEY_ARE)
        )
        await (self._packed if packs else self._app)(scope, receive, send)
