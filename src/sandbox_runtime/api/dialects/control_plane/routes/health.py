"""How the server does, in this protocol's words, and what the audit has."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import Awaitable
from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import JSONResponse

from sandbox_runtime.api.dialects.control_plane.quantities import moment_of
from sandbox_runtime.api.dialects.control_plane.responses import answer, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.params import Limit, Offset, check_admin, clamped, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as wire
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.assembly import version
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import AuditEntry, NodeState
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import AuditFilter

routes = router("", "health")
_LOOK_WITHIN_S = 10.0
FEATURES = ("sessions", "executions", "templates", "files", "contexts", "fork", "streams", "warm_pool", "persistent_sessions")
Word = Annotated[str | None, Query(max_length=255)]


@routes.get("/", responses=returns(wire.About))
async def about(request: Request) -> Response:
    """What this server is called, and its version."""
    told = {"name": "sandbox-runtime", "version": version(), "status": "operational"}
    return JSONResponse({**told, "features": list(FEATURES), "documentation": "/docs"})


@routes.get("/health", responses=returns(wire.Health))
async def health(request: Request) -> Response:
    """Whether the server answers. Without a key."""
    failing = platform_of(request).pool.failure is not None
    return answer(_health(request, failing), 503 if failing else 200)


@routes.get("/health/detailed", responses=returns(wire.DetailedHealth))
async def detailed_health(request: Request) -> Response:
    """How the store, the storage of files, the boxes and the pool do."""
    sessions, failure = sessions_of(request), platform_of(request).pool.failure
    looked = {
        "database": await _looked(sessions.store.ping()),
        "storage": await _looked(sessions.monitor.check_storage()),
        "runtime_nodes": await _nodes(sessions),
    }
    failing = failure is not None or any(found["status"] != "healthy" for found in looked.values())
    told = wire.DetailedHealth(**_health(request, failing).model_dump(), dependencies=looked)
    return answer(told, 503 if failing else 200)


@routes.post("/health/sync", responses=returns(wire.SyncAnswer))
async def sync(request: Request) -> Response:
    """What is done every few minutes, now: sessions that are over end, rows that are old go."""
    check_admin(request)
    swept = dataclasses.asdict(await sessions_of(request).sweep())
    counts = {name: value for name, value in swept.items() if isinstance(value, int)}
    return answer(wire.SyncAnswer(status="completed", message="what is remembered and what is there agree", result=counts))


@routes.get("/audit", responses=returns(wire.AuditList))
async def audit(
    request: Request,
    kind: Word = None,
    subject: Word = None,
    owner: Word = None,
    actor: Word = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """Who changed what, newest first. For admins."""
    check_admin(request)
    wanted = AuditFilter(kind=kind, subject=subject, owner=owner, actor=actor)
    page = await sessions_of(request).store.audit.list(wanted, clamped(limit), offset)
    return JSONResponse({"items": [_told(entry) for entry in page.items], "total": page.total})


def _told(entry: AuditEntry) -> dict[str, Any]:
    return {
        "at": moment_of(entry.at_ms).isoformat(),
        "actor": entry.actor,
        "action": entry.action,
        "kind": entry.kind,
        "subject": entry.subject,
        "owner": entry.owner,
        "details": None if entry.details_json is None else json.loads(entry.details_json),
    }


def _health(request: Request, failing: bool) -> wire.Health:
    uptime_s = round(time.monotonic() - request.app.state.started_s, 3)
    return wire.Health(status="unhealthy" if failing else "healthy", version=version(), uptime=uptime_s)


async def _looked(look: Awaitable[None]) -> dict[str, str | int | float]:
    begun = time.perf_counter()
    try:
        async with asyncio.timeout(_LOOK_WITHIN_S):
            await look
    except TimeoutError:
        return {"status": "unhealthy", "error": f"no answer within {_LOOK_WITHIN_S:g} s"}
    except SandboxError as error:
        return {"status": "unhealthy", "error": str(error)}
    return {"status": "healthy", "response_time_ms": round((time.perf_counter() - begun) * 1000, 3)}


async def _nodes(sessions: Sessions) -> dict[str, str | int | float]:
    page = await sessions.nodes.list(limit=200)
    online = sum(node.state is NodeState.online for node in page.items)
    return {"status": "healthy" if online else "unhealthy", "total": page.total, "online": online}
