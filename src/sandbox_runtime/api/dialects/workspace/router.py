"""The routes of this dialect and its declaration. Of routes whose patterns overlap, the more specific one comes first."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from sandbox_runtime.api.dialect import Dialect
from sandbox_runtime.api.dialects.workspace.mapping.answers import envelope
from sandbox_runtime.api.dialects.workspace.routes import executions, files, handlers, sessions
from sandbox_runtime.api.dialects.workspace.schemas import PREFIX, Json

router = APIRouter(tags=["workspace"])


@router.get(f"{PREFIX}/healthy")
async def healthy() -> Json:
    """Return ok if the server responds. See GET /health for its condition."""
    return envelope({"status": "success"}, result="ok")


@router.get("/api.json", include_in_schema=False)
async def description(request: Request) -> JSONResponse:
    """Return the OpenAPI document, at the path where clients of this protocol expect it."""
    document: dict[str, Any] = request.app.openapi()
    return JSONResponse(document)


for _part in (sessions, executions, files):
    router.include_router(_part.router, prefix=PREFIX)
router.include_router(handlers.router)
router.include_router(handlers.router, prefix=PREFIX, include_in_schema=False)
dialect = Dialect(
    name="workspace",
    routers=(router,),
    open_paths=(f"{PREFIX}/healthy",),
    linkable_paths=("/api.json",),
    upload_paths=(f"{PREFIX}/upload/{{session_id}}",),
)
