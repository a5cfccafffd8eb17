"""Templates. All owners share them, so only an admin changes them."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from sandbox_runtime import timestamps
from sandbox_runtime.api.dialects.control_plane.mapping import templates as translation
from sandbox_runtime.api.dialects.control_plane.responses import answer, refusal, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.params import (
    Identifier,
    Limit,
    Offset,
    check_admin,
    clamped,
    owner_of,
    sessions_of,
)
from sandbox_runtime.api.dialects.control_plane.schemas import templates as wire
from sandbox_runtime.api.dialects.control_plane.schemas.nodes import Message
from sandbox_runtime.errors import Conflict

routes = router("/templates", "templates")
_ONE = returns(wire.TemplateResponse)


@routes.post("", status_code=201, responses=returns(wire.TemplateResponse, 201))
async def create_template(request: Request, asked: wire.CreateTemplateRequest) -> Response:
    """Make a template. For admins, as every change of one."""
    check_admin(request)
    template = translation.template_of(asked, timestamps.now_ms())
    return answer(translation.answer_of(await sessions_of(request).templates.add(template, owner_of(request))), 201)


@routes.get("", responses=returns(list[wire.TemplateResponse]))
async def list_templates(request: Request, limit: Limit = 50, offset: Offset = 0) -> Response:
    """The templates, newest first."""
    page = await sessions_of(request).templates.list(None, clamped(limit), offset)
    found = [translation.answer_of(template).model_dump(mode="json") for template in page.items]
    return JSONResponse(found, headers={"X-Total-Count": str(page.total)})


@routes.get("/{template_id}", responses=_ONE)
async def get_template(request: Request, template_id: Identifier) -> Response:
    """One template."""
    return answer(translation.answer_of(await sessions_of(request).templates.get(template_id)))


@routes.put("/{template_id}", responses=_ONE)
async def change_template(request: Request, template_id: Identifier, asked: wire.UpdateTemplateRequest) -> Response:
    """Change what is given of a template; sessions that were made from it stay as they are."""
    check_admin(request)
    sessions = sessions_of(request)
    present = await sessions.templates.get(template_id)
    changes = translation.changes_of(asked, present)
    changed = await sessions.templates.change(template_id, owner_of(request), **changes) if changes else present
    return answer(translation.answer_of(changed))


@routes.delete("/{template_id}", responses=returns(Message))
async def delete_template(request: Request, template_id: Identifier) -> Response:
    """Remove a template. 400 while sessions that have not ended were made from it."""
    check_admin(request)
    try:
        await sessions_of(request).templates.delete(template_id, owner_of(request))
    except Conflict as error:
        return refusal(400, str(error), request.url.path)
    return answer(Message(message=f"the template {template_id} was deleted"))
