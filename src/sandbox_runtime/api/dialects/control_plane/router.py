"""The declaration of this dialect: its routes and the rules for their paths."""

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
    node_reports,
    output_streams,
    runtime_node,
    runtimes,
    sessions,
    templates,
    terminals,
)

BASE = "/api/v1"
_SESSION = f"{BASE}/sessions/{{session_id}}"


def _all_routes() -> APIRouter:
    router = APIRouter()
    parts = (health, sessions, executions, output_streams, contexts, archives, files, templates, containers, runtimes, terminals)
    for part in parts:
        router.include_router(part.router, prefix=BASE)
    router.include_router(executions.session_router, prefix=BASE)
    router.include_router(terminals.session_router, prefix=BASE)
    router.include_router(files.signed_router, prefix=BASE)
    router.include_router(node_reports.router, prefix=f"{BASE}/internal")
    router.include_router(node_reports.router, prefix="/internal", include_in_schema=False)
    router.include_router(runtime_node.router, prefix="/runtime")
    return router


dialect = Dialect(
    name="control_plane",
    routers=(_all_routes(),),
    fast_routes=fast_path.fast_routes(BASE),
    open_paths=(f"{BASE}/health",),
    token_paths=(f"{BASE}/internal/{{path:path}}", "/internal/{path:path}", f"{BASE}/signed-files/{{token:path}}"),
    upload_paths=(f"{_SESSION}/files/{{path:path}}", f"{_SESSION}/archive"),
    compressed_paths=(f"{BASE}/{{path:path}}",),
    uncompressed_paths=(f"{_SESSION}/files/{{path:path}}", f"{BASE}/signed-files/{{token:path}}"),
)
