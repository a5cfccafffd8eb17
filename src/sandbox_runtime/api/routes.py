"""Routes of the server itself, which belong to no dialect: ping, health, metrics and languages."""

from __future__ import annotations

import dataclasses
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from sandbox_runtime.api import languages
from sandbox_runtime.api.dialect import Dialect
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.assembly import version

router = APIRouter()


@router.get("/v1/ping")
async def ping() -> str:
    """Return "pong" if the server is up."""
    return "pong"


@router.get("/health")
async def health(request: Request) -> JSONResponse:
    """Return the isolation layers in use and the current load. Returns 503 while the server cannot start sandboxes."""
    platform = platform_of(request)
    failure = platform.pool.failure
    body: dict[str, Any] = {
        "status": "failing" if failure else "healthy",
        "reason": str(failure) if failure else "",
        "version": version(),
        "isolation": platform.backend.name,
        "layers": [dataclasses.asdict(report) for report in platform.backend.layers()],
        "boxes": {"idle": platform.pool.idle, "in_use": platform.pool.in_use},
        "queue": {"waiting": platform.admission.waiting, "running": platform.admission.busy},
    }
    return JSONResponse(body, 503 if failure else 200)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Return counters and gauges in the Prometheus text format."""
    platform = platform_of(request)
    return Response(platform.metrics.exposition(), media_type=platform.metrics.content_type)


SERVER = Dialect(
    name="server",
    routers=(router, languages.router),
    open_paths=("/health", "/v1/ping"),
    linkable_paths=("/docs", "/openapi.json"),
)
