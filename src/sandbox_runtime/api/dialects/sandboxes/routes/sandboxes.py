"""Sandboxes: made, listed, changed, stopped and started, ended."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.caller import caller_of, owner_of
from sandbox_runtime.api.dialects.sandboxes import sandbox_list, schemas, start_stop
from sandbox_runtime.api.dialects.sandboxes.mapping import answers, requests
from sandbox_runtime.api.dialects.sandboxes.protocol_version import version_of
from sandbox_runtime.api.dialects.sandboxes.responses import answer, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import (
    Identifier,
    PageOffset,
    PageSize,
    SortBy,
    SortOrder,
    Wanted,
    filters_of,
    sessions_of,
)
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.model import Session

routes = router("/sandboxes", "sandboxes")


@routes.post("", status_code=201, response_model=schemas.Sandbox)
async def create_sandbox(request: Request, asked: schemas.CreateSandbox) -> Response:
    """Make a sandbox. It can be used at once."""
    sessions, caller = sessions_of(request), caller_of(request)
    try:
        template = await sessions.templates.get_active(asked.template or platform_of(request).settings.session_template)
        made = await sessions.create(
            requests.session_spec(asked, template.resources), caller.owner, max_sessions=caller.grants.max_sessions
        )
    except NotFound as error:
        raise InvalidRequest(f"template: {error}") from error
    return _told(request, made, 201)


@routes.get("", response_model=schemas.Listed)
async def list_sandboxes(
    request: Request,
    page_size: PageSize = 20,
    page_offset: PageOffset = 0,
    sort_by: SortBy = "created_at",
    sort_order: SortOrder = "desc",
) -> Response:
    """The caller's sandboxes. filter_status: one of the statuses, or all; without it, those that have not ended. filter_name and
    filter_image: that name, that image."""
    wanted = Wanted(page_size, page_offset, sort_by, sort_order == "desc")
    wanted.check(sandbox_list.SORTED_BY)
    sessions = sessions_of(request)
    found, total = await sandbox_list.page(sessions, owner_of(request), wanted, filters_of(request, sandbox_list.FILTERS))
    items = [answers.sandbox(one, at_work=sessions.is_busy(one.id)) for one in found]
    return answer(request, answers.page(items, total, page_size, page_offset, version_of(request)))


@routes.get("/{sandbox_id}", response_model=schemas.Sandbox)
async def get_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """One sandbox, also after its end."""
    return _told(request, await sessions_of(request).get(sandbox_id, owner_of(request)))


@routes.put("/{sandbox_id}", response_model=schemas.Sandbox)
async def replace_sandbox(request: Request, sandbox_id: Identifier, asked: schemas.ChangeSandbox) -> Response:
    """Set name, environment and metadata; what is left out becomes empty. ttl, where it is given, counts from now."""
    full = schemas.ChangeSandbox(
        name=asked.name or "", environment=asked.environment or {}, metadata=asked.metadata or {}, ttl=asked.ttl
    )
    return await _changed(request, sandbox_id, full)


@routes.patch("/{sandbox_id}", response_model=schemas.Sandbox)
async def change_sandbox(request: Request, sandbox_id: Identifier, asked: schemas.ChangeSandbox) -> Response:
    """Change what is given and leave the rest."""
    return await _changed(request, sandbox_id, asked)


@routes.delete("/{sandbox_id}", status_code=204)
async def delete_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """End a sandbox, whatever runs in it, and its files. Its record stays for a while, as terminated."""
    await sessions_of(request).terminate(sandbox_id, owner_of(request))
    return Response(status_code=204)


@routes.post("/{sandbox_id}/start", response_model=schemas.Sandbox)
async def start_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """Let a sandbox that was stopped or paused be used again."""
    return _told(request, await start_stop.start(sessions_of(request), sandbox_id, owner_of(request)))


@routes.post("/{sandbox_id}/stop", response_model=schemas.Sandbox)
async def stop_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """End whatever runs in it and let nothing new begin; its files stay."""
    return _told(request, await start_stop.stop(sessions_of(request), sandbox_id, owner_of(request)))


@routes.post("/{sandbox_id}/restart", response_model=schemas.Sandbox)
async def restart_sandbox(request: Request, sandbox_id: Identifier) -> Response:
    """Stop it and start it: nothing but its files is as it was."""
    return _told(request, await start_stop.restart(sessions_of(request), sandbox_id, owner_of(request)))


async def _changed(request: Request, sandbox_id: str, asked: schemas.ChangeSandbox) -> Response:
    sessions, owner = sessions_of(request), owner_of(request)
    session = await sessions.get(sandbox_id, owner)
    given = {name: getattr(asked, name) for name in ("name", "metadata") if getattr(asked, name) is not None}
    about = requests.noted({**answers.about_of(session), **given}) if given else None
    changed = await sessions.change(sandbox_id, owner, env=asked.environment, about_json=about, lifetime_s=asked.ttl)
    return _told(request, changed)


def _told(request: Request, session: Session, status: int = 200) -> Response:
    return answer(request, answers.sandbox(session, at_work=sessions_of(request).is_busy(session.id)), status)
