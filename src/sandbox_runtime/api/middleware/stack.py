"""The middleware around the app, from the outside in: CORS, access and compression."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox_runtime.api.dialect import Dialect, PathRules, path_rules
from sandbox_runtime.api.middleware.access import AccessMiddleware, AccessRules
from sandbox_runtime.api.middleware.keyring import Keyring
from sandbox_runtime.api.middleware.origins import ANY
from sandbox_runtime.rate_limit import KeyedRateLimiter
from sandbox_runtime.settings import Settings

_GZIP_MIN_BYTES = 1000
_GZIP_LEVEL = 5
_EXPOSED_HEADERS = ("X-Request-ID", "X-Process-Time", "Retry-After")


def install(app: FastAPI, settings: Settings, dialects: Iterable[Dialect]) -> None:
    """The last one added is the outermost. CORS preflights have no key, so they are answered before access is checked."""
    paths = path_rules(dialects)
    app.add_middleware(SelectiveGZip, paths=paths)
    app.add_middleware(
        AccessMiddleware,
        rules=access_rules(settings),
        paths=paths,
        keyring=Keyring(settings.api_key),
        rate_limiter=KeyedRateLimiter(settings.rate_limit_per_minute),
    )
    allowed = cors_origins(settings)
    if allowed:
        app.add_middleware(
            CORSMiddleware, allow_origins=allowed, allow_methods=["*"], allow_headers=["*"], expose_headers=_EXPOSED_HEADERS
        )


def access_rules(settings: Settings) -> AccessRules:
    return AccessRules(
        requires_keys=settings.requires_keys,
        max_body_bytes=settings.max_request_bytes,
        max_upload_bytes=settings.session_file_max_bytes,
        max_batch_bytes=settings.batch_max_bytes,
        hosts=frozenset(settings.allowed_hosts),
        origins=frozenset(settings.cors_origins) - {ANY},
        any_origin=settings.requires_keys and ANY in settings.cors_origins,
    )


def cors_origins(settings: Settings) -> list[str]:
    """Return the allowed origins. "*" is ignored if keys are not required."""
    return [origin for origin in settings.cors_origins if origin != ANY or settings.requires_keys]


class SelectiveGZip:
    """Compress the responses whose paths a dialect declares as compressed; pass all others through."""

    def __init__(self, app: ASGIApp, *, paths: PathRules) -> None:
        self._app = app
        self._paths = paths
        self._gzip = GZipMiddleware(app, minimum_size=_GZIP_MIN_BYTES, compresslevel=_GZIP_LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        compresses = scope["type"] == "http" and self._is_compressed(scope["path"])
        await (self._gzip if compresses else self._app)(scope, receive, send)

    def _is_compressed(self, path: str) -> bool:
        return bool(self._paths.compressed.match(path)) and not self._paths.uncompressed.match(path)
