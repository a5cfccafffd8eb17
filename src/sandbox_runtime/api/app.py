"""The app factory. A new dialect is a folder in dialects/ and one line in DIALECTS."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse

from sandbox_runtime.api import errors, openapi, pages
from sandbox_runtime.api.dialect import Dialect, load_dialect
from sandbox_runtime.api.middleware import stack
from sandbox_runtime.api.routes import SERVER
from sandbox_runtime.assembly import Platform, open_platform, version
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages import load_catalog
from sandbox_runtime.settings import Settings, load

DIALECTS = (
    "fusion",
    "control_plane",
    "judge",
    "workspace",
    "sandboxes",
)
"""The folders of dialects/ that are served. Routes are matched in this order."""
PlatformFactory = Callable[[Settings], AbstractAsyncContextManager[Platform]]


def create_app(
    settings: Settings, *, platform_factory: PlatformFactory = open_platform, dialects: Sequence[str] = DIALECTS
) -> FastAPI:
    """Return the app. The platform is opened when the server starts and closed when it stops."""
    refuse_exposure(settings)
    served = (SERVER, *(load_dialect(name) for name in dialects))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with platform_factory(settings) as platform:
            app.state.platform = platform
            yield

    app = FastAPI(title="sandbox-runtime", version=version(), lifespan=lifespan, redoc_url=None)
    app.state.started_s = time.monotonic()
    app.state.max_request_values = settings.max_request_values
    app.state.signing_secret = secrets.token_bytes(32)
    stack.install(app, settings, served)
    errors.install(app)
    _mount(app, served)
    app.include_router(pages.router())
    _serve_openapi_from_a_thread(app)
    app.openapi = partial(_openapi, app, served)  # type: ignore[method-assign]
    return app


def _mount(app: FastAPI, dialects: Sequence[Dialect]) -> None:
    """Routes are searched one by one and the first match is taken, so the most frequent ones come first."""
    for dialect in dialects:
        app.router.routes.extend(dialect.fast_routes)
    for dialect in dialects:
        for router in dialect.routers:
            app.include_router(router)


def build_routes(app: FastAPI) -> None:
    """Build the routing tables that FastAPI otherwise builds on the first request to each router; this takes about a second."""
    no_route = {"type": "http", "method": "GET", "path": "/\0", "root_path": "", "headers": [], "query_string": b""}
    for route in app.router.routes:
        route.matches(dict(no_route))


def _serve_openapi_from_a_thread(app: FastAPI) -> None:
    """The document is built on the first request for it, which takes about a second."""

    async def serve(_request: Request) -> JSONResponse:
        return JSONResponse(await asyncio.to_thread(app.openapi))

    routes = app.router.routes
    routes[:] = [route for route in routes if getattr(route, "path", "") != app.openapi_url]
    app.add_route(str(app.openapi_url), serve, include_in_schema=False)


def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document without opening a platform. It is the same on every machine."""
    app = create_app(Settings())
    document: dict[str, Any] = app.openapi()
    return document


def _openapi(app: FastAPI, dialects: Sequence[Dialect]) -> dict[str, Any]:
    """Build the OpenAPI document once."""
    if app.openapi_schema is None:
        platform: Platform | None = getattr(app.state, "platform", None)
        openapi.complete(FastAPI.openapi(app), dialects, load_catalog() if platform is None else platform.catalog)
    return FastAPI.openapi(app)


def create_app_from_environment() -> FastAPI:
    """Return the app with the settings of the environment, for ASGI servers that import it by name."""
    return create_app(load(), platform_factory=partial(open_platform, sessions=True))


def refuse_exposure(settings: Settings) -> None:
    """Raise InvalidRequest if the server would be reachable from other machines without a key."""
    if settings.exposed and not settings.requires_keys:
        raise InvalidRequest(
            f"the server would listen on {settings.host} without requiring a key: set api_key (SANDBOX_API_KEY), or create keys "
            "with `sandbox keys create` and set require_keys (SANDBOX_REQUIRE_KEYS), or set host to 127.0.0.1"
        )
