"""Create, list, change, start, stop and delete sandboxes."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.caller import caller_of, owner_of
from sandbox_runtime.api.dialects.sandboxes import sandbox_list, start_stop
from sandbox_runtime.api.dialects.sandboxes.mapping.answers import about_of, to_page, to_sandbox
from sandbox_runtime.api.dialects.sandboxes.mapping.requests import session_spec, to_about_json
from sandbox_runtime.api.dialects.sandboxes.protocol_version import version_of
from sandbox_runtime.api.dialects.sandboxes.responses import model_response, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import (
    Identifier,
    PageOffset,
    PageSize,
    SortBy,
    SortOrder,
    parse_filters,
    sessions_of,
)
from sandbox_runtime.api.dialects.sandboxes.schemas.base import PageQuery, PageResponse
from sandbox_runtime.api.dialects.sandboxes.schemas.sandboxes import CreateSandboxRequest, Sandbox, UpdateSandboxRequest
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.model import Session

routes = router("/sandboxes", "sandboxes")


@routes.post("", status_code=201, response_model=Sandbox)
async def create_sandbox(request: Request, body: CreateSandboxRequest) -> Response:
    """Create a sandbox. It is ready when the response arrives."""
    sessions, caller = sessions_of(request), caller_of(request)
    try:
        template = await sessions.templates.get_active(body.template or platform_of(request).settings.session_template)
        spec = session_spec(body, template.resources)
        session = await sessions.create(spec, caller.owner, max_sessions=caller.grants.max_sessions)
    except NotFound as error:
        raise InvalidRequest(f"template: {error}") from error
    return _sandbox_response(request, session, 201)


@routes.get("", response_model=PageResponse)
async def list_sandboxes(
    request: Request,
    page_size: PageSize = 20,
    page_offset: PageOffset = 0,
    sort_by: SortBy = "created_at",
    sort_order: SortOrder = "desc",
) -> Response:
    """List the caller's sandboxes.

    - `filter_status`: a status, or `all`. Without it, sandboxes that have ended are left out.
    - `filter_name`, `filter_image`: only sandboxes with exactly this name or image.
    - `sort_by`: `created_at`, `updated_at`, `name`, `status` or `id`.
    """
    query = PageQuery(page_size, page_offset, sort_by, sort_order == "desc")
    query.check_sort(sandbox_list.SORT_KEYS)
    sessions, filters = sessions_of(request), parse_filters(request, sandbox_list.FILTERS)
    listed, total = await sandbox_list.list_page(sessions, owner_of(request), query, filters)
    items = [to_sandbox(session, busy=sessions.is_busy(session.id)) for session in listed]
    return model_response(request, to_page(items, total, page_size, page_offset, version_of(request)))


@routes.get("/{sandbox_id}", response_model=Sandbox)
async def get_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """Return a sandbox, also after it has ended."""
    return _sandbox_response(request, await sessions_of(request).get(sandbox_id, owner_of(request)))


@routes.put("/{sandbox_id}", response_model=Sandbox)
async def replace_sandbox(request: Request, sandbox_id: Identifier, body: UpdateSandboxRequest) -> Response:
    """Replace name, environment and metadata. Missing fields become empty. `ttl` counts from now; if missing, it is unchanged."""
    complete = UpdateSandboxRequest(
        name=body.name or "", environment=body.environment or {}, metadata=body.metadata or {}, ttl=body.ttl
    )
    return await _update(request, sandbox_id, complete)


@routes.patch("/{sandbox_id}", response_model=Sandbox)
async def change_sandbox(request: Request, sandbox_id: Identifier, body: UpdateSandboxRequest) -> Response:
    """Change the given fields and keep the others. `ttl` counts from now."""
    return await _update(request, sandbox_id, body)


@routes.delete("/{sandbox_id}", status_code=204)
async def delete_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """End a sandbox and what runs in it, and delete its files. Its record is kept for a while, with status terminated."""
    await sessions_of(request).terminate(sandbox_id, owner_of(request))
    return Response(status_code=204)


@routes.post("/{sandbox_id}/start", response_model=Sandbox)
async def start_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """Start a stopped or paused sandbox. A running one is unchanged."""
    return _sandbox_response(request, await start_stop.start(sessions_of(request), sandbox_id, owner_of(request)))


@routes.post("/{sandbox_id}/stop", response_model=Sandbox)
async def stop_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """End what runs in a sandbox and refuse new executions until it is started. Files are kept."""
    return _sandbox_response(request, await start_stop.stop(sessions_of(request), sandbox_id, owner_of(request)))


@routes.post("/{sandbox_id}/restart", response_model=Sandbox)
async def restart_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """Stop and start a sandbox. Only its files are kept."""
    return _sandbox_response(request, await start_stop.restart(sessions_of(request), sandbox_id, owner_of(request)))


async def _update(request: Request, sandbox_id: str, body: UpdateSandboxRequest) -> Response:
    sessions, owner = sessions_of(request), owner_of(request)
    session = await sessions.get(sandbox_id, owner)
    changes = {name: getattr(body, name) for name in ("name", "metadata") if getattr(body, name) is not None}
    about = to_about_json({**about_of(session), **changes}) if changes else None
    changed = await sessions.change(sandbox_id, owner, env=body.environment, about_json=about, lifetime_s=body.ttl)
    return _sandbox_response(request, changed)


def _sandbox_response(request: Request, session: Session, status: int = 200) -> Response:
    return model_response(request, to_sandbox(session, busy=sessions_of(request).is_busy(session.id)), status)
