"""Health of the server in the form of this protocol, and the audit log."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import Awaitable
from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse

from sandbox_runtime.api.dialects.control_plane.mapping.times import to_datetime
from sandbox_runtime.api.dialects.control_plane.responses import json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import Limit, Offset, check_admin, clamp_limit, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as schemas
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.assembly import version
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import AuditEntry, NodeState
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import AuditFilter

router = new_router("", "health")
_CHECK_TIMEOUT_S = 10.0
FEATURES = ("sessions", "executions", "templates", "files", "contexts", "fork", "streams", "warm_pool", "persistent_sessions")
FilterText = Annotated[str | None, Query(max_length=255)]


@router.get("/", responses=returns(schemas.AboutResponse))
async def about(request: Request) -> Response:
    """Return the name, version and features of the server."""
    about = {"name": "sandbox-runtime", "version": version(), "status": "operational"}
    return JSONResponse({**about, "features": list(FEATURES), "documentation": "/docs"})


@router.get("/health", responses=returns(schemas.HealthResponse))
async def health(request: Request) -> Response:
    """Return whether the server can start sandboxes. No key is needed."""
    failing = platform_of(request).pool.failure is not None
    return json_response(_health(request, failing), 503 if failing else 200)


@router.get("/health/detailed", responses=returns(schemas.DetailedHealthResponse))
async def detailed_health(request: Request) -> Response:
    """Return the health of the database, the file storage and the runtime nodes."""
    sessions, failure = sessions_of(request), platform_of(request).pool.failure
    dependencies = {
        "database": await _check(sessions.store.ping()),
        "storage": await _check(sessions.monitor.check_storage()),
        "runtime_nodes": await _nodes(sessions),
    }
    failing = failure is not None or any(result["status"] != "healthy" for result in dependencies.values())
    response = schemas.DetailedHealthResponse(**_health(request, failing).model_dump(), dependencies=dependencies)
    return json_response(response, 503 if failing else 200)


@router.post("/health/sync", responses=returns(schemas.SyncResponse))
async def sync(request: Request) -> Response:
    """Run the periodic cleanup now: end expired sessions and delete old rows. For admins."""
    check_admin(request)
    report = dataclasses.asdict(await sessions_of(request).sweep())
    counts = {name: value for name, value in report.items() if isinstance(value, int)}
    return json_response(schemas.SyncResponse(status="completed", message="cleanup finished", result=counts))


@router.get("/audit", responses=returns(schemas.AuditList))
async def audit(
    request: Request,
    kind: FilterText = None,
    subject: FilterText = None,
    owner: FilterText = None,
    actor: FilterText = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """List changes and who made them, newest first. For admins."""
    check_admin(request)
    filter_ = AuditFilter(kind=kind, subject=subject, owner=owner, actor=actor)
    page = await sessions_of(request).store.audit.list(filter_, clamp_limit(limit), offset)
    return JSONResponse({"items": [_audit_item(entry) for entry in page.items], "total": page.total})


def _audit_item(entry: AuditEntry) -> dict[str, Any]:
    return {
        "at": to_datetime(entry.at_ms).isoformat(),
        "actor": entry.actor,
        "action": entry.action,
        "kind": entry.kind,
        "subject": entry.subject,
        "owner": entry.owner,
        "details": None if entry.details_json is None else json.loads(entry.details_json),
    }


def _health(request: Request, failing: bool) -> schemas.HealthResponse:
    uptime_s = round(time.monotonic() - request.app.state.started_s, 3)
    return schemas.HealthResponse(status="unhealthy" if failing else "healthy", version=version(), uptime=uptime_s)


async def _check(check: Awaitable[None]) -> dict[str, str | int | float]:
    started_s = time.perf_counter()
    try:
        async with asyncio.timeout(_CHECK_TIMEOUT_S):
            await check
    except TimeoutError:
        return {"status": "unhealthy", "error": f"no response within {_CHECK_TIMEOUT_S:g} s"}
    except SandboxError as error:
        return {"status": "unhealthy", "error": str(error)}
    return {"status": "healthy", "response_time_ms": round((time.perf_counter() - started_s) * 1000, 3)}


async def _nodes(sessions: Sessions) -> dict[str, str | int | float]:
    page = await sessions.nodes.list(limit=200)
    online = sum(node.state is NodeState.online for node in page.items)
    return {"status": "healthy" if online else "unhealthy", "total": page.total, "online": online}
