"""The routes of this dialect below each of its bases, and its declaration. OpenAPI has those of the newest version only."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, JSONResponse

from sandbox_runtime.api.dialect import Dialect
from sandbox_runtime.api.dialects.sandboxes.routes import executions, files, sandboxes, tools, version2

BASES = ("/api/v1", "/api/v2", "/api")
_NEWEST = "/api/v2"
_FILES = ("/sandboxes/{sandbox_id}/files", "/sandboxes/{sandbox_id}/files/{path:path}")
_PARTS = (version2, sandboxes, executions, files, tools)


async def openapi(request: Request) -> JSONResponse:
    return JSONResponse(request.app.openapi())


async def docs(request: Request) -> HTMLResponse:
    """Return the Swagger page. The URL of the document is relative, so that it works behind a proxy that adds a prefix."""
    return get_swagger_ui_html(openapi_url="openapi.json", title=request.app.title)


def _build_router() -> APIRouter:
    router = APIRouter()
    for base in BASES:
        for part in _PARTS:
            router.include_router(part.routes, prefix=base, include_in_schema=base == _NEWEST)
    router.add_api_route("/api/openapi.json", openapi, include_in_schema=False)
    router.add_api_route("/api/docs", docs, include_in_schema=False)
    return router


dialect = Dialect(
    name="sandboxes",
    routers=(_build_router(),),
    upload_paths=tuple(f"{base}{files}" for base in BASES for files in _FILES),
    compressed_paths=("/api/v1/{path:path}",),
    uncompressed_paths=("/api/v1/sandboxes/{sandbox_id}/files/{path:path}",),
)
