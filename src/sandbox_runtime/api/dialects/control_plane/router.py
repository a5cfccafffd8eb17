"""All routes of this dialect, each below its base."""

from __future__ import annotations

from fastapi import APIRouter

from sandbox_runtime.api.dialect import Dialect
from sandbox_runtime.api.dialects.control_plane.routes import (
    archives,
    containers,
    contexts,
    executions,
    fast_path,
    files,
    health,
    internal,
    node,
    runtimes,
    sessions,
    streams,
    templates,
    terminals,
)

BASE = fast_path.BASE
_SESSION = f"{BASE}/sessions/{{session_id}}"


def _mounted() -> APIRouter:
    whole = APIRouter()
    parts = (health, sessions, executions, streams, contexts, archives, files, templates, containers, runtimes, terminals)
    for part in parts:
        whole.include_router(part.routes, prefix=BASE)
    whole.include_router(executions.of_sessions, prefix=BASE)
    whole.include_router(terminals.of_sessions, prefix=BASE)
    whole.include_router(files.signed, prefix=BASE)
    whole.include_router(internal.routes, prefix=f"{BASE}/internal")
    whole.include_router(internal.routes, prefix="/internal", include_in_schema=False)
    whole.include_router(node.routes, prefix="/runtime")
    return whole


dialect = Dialect(
    name="control_plane",
    routers=(_mounted(),),
    fast_routes=fast_path.routes,
    open_paths=(f"{BASE}/health",),
    token_paths=(f"{BASE}/internal/{{path:path}}", "/internal/{path:path}", f"{BASE}/signed-files/{{token:path}}"),
    upload_paths=(f"{_SESSION}/files/{{path:path}}", f"{_SESSION}/archive"),
    compressed_paths=(f"{BASE}/{{path:path}}",),
    uncompressed_paths=(f"{_SESSION}/files/{{path:path}}", f"{BASE}/signed-files/{{token:path}}"),
)
