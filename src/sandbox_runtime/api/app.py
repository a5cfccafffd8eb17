"""The app factory. A new dialect is one new folder and one line here."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import JSONResponse

from sandbox_runtime.api import errors, languages, pages, requests
from sandbox_runtime.api.dialects import control_plane, fusion, judge, sandboxes, workspace
from sandbox_runtime.api.middleware import stack
from sandbox_runtime.assembly import Platform, open_platform, version
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import Settings, load

OpenPlatform = Callable[[Settings], AbstractAsyncContextManager[Platform]]


def create_app(settings: Settings, *, opening: OpenPlatform = open_platform) -> FastAPI:
    """The platform is opened when the server starts and closed when it stops."""
    refuse_exposure(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opening(settings) as platform:
            app.state.platform = platform
            yield

    app = FastAPI(title="sandbox-runtime", version=version(), lifespan=lifespan, redoc_url=None)
    app.state.begun_s = time.monotonic()
    app.state.max_request_values = settings.max_request_values
    app.state.signing_secret = secrets.token_bytes(32)
    stack.install(app, settings)
    errors.install(app)
    # The first that fits is taken, and the search is one by one: what is asked for most comes first.
    app.router.routes.extend(control_plane.hot_routes)
    app.include_router(requests.router)
    app.include_router(languages.router)
    app.include_router(fusion.router)
    app.include_router(control_plane.router)
    app.include_router(judge.router)
    app.include_router(workspace.router)
    app.include_router(sandboxes.router)
    app.include_router(pages.router())
    _describe_in_a_thread(app)
    app.openapi = partial(_described, app, app.openapi)  # type: ignore[method-assign]
    return app


def build_routes(app: FastAPI) -> None:
    """Build what FastAPI would build while it serves the first request of each router, which takes a second in all."""
    nowhere = {"type": "http", "method": "GET", "path": "/\0", "root_path": "", "headers": [], "query_string": b""}
    for route in app.router.routes:
        route.matches(dict(nowhere))


def _describe_in_a_thread(app: FastAPI) -> None:
    """The description of all routes is made when it is first asked for, which takes another second."""

    async def describe(_request: Request) -> JSONResponse:
        return JSONResponse(await asyncio.to_thread(app.openapi))

    routes = app.router.routes
    routes[:] = [route for route in routes if getattr(route, "path", "") != app.openapi_url]
    app.add_route(str(app.openapi_url), describe, include_in_schema=False)


def _described(app: FastAPI, describe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What is known only once the platform is open goes into the description as well."""
    if app.openapi_schema is None:
        fusion.name_all_languages(describe(), app.state.platform.catalog)
    return describe()


def create_app_from_environment() -> FastAPI:
    """For servers that build the app themselves, from its import name."""
    return create_app(load(), opening=partial(open_platform, sessions=True))


def refuse_exposure(settings: Settings) -> None:
    if settings.exposed and not settings.keys_asked:
        raise InvalidRequest(
            f"the server would listen on {settings.host} for everyone who can reach it: set api_key (SANDBOX_API_KEY), or make "
            "keys with `sandbox keys create` and set require_keys (SANDBOX_REQUIRE_KEYS), or set host to 127.0.0.1"
        )
