"""Templates. All owners share them, so only admins may change them."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import JSONResponse

from sandbox_runtime import timestamps
from sandbox_runtime.api.dialects.control_plane.mapping import templates as mapping
from sandbox_runtime.api.dialects.control_plane.responses import error_response, json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import (
    Identifier,
    Limit,
    Offset,
    check_admin,
    clamp_limit,
    owner_of,
    sessions_of,
)
from sandbox_runtime.api.dialects.control_plane.schemas import templates as schemas
from sandbox_runtime.api.dialects.control_plane.schemas.common import MessageResponse
from sandbox_runtime.errors import Conflict

router = new_router("/templates", "templates")
_RETURNS_TEMPLATE = returns(schemas.TemplateResponse)


@router.post("", status_code=201, responses=returns(schemas.TemplateResponse, 201))
async def create_template(request: Request, body: schemas.CreateTemplateRequest) -> Response:
    """Create a template. For admins."""
    check_admin(request)
    template = mapping.to_template(body, timestamps.now_ms())
    return json_response(mapping.to_response(await sessions_of(request).templates.add(template, owner_of(request))), 201)


@router.get("", responses=returns(list[schemas.TemplateResponse]))
async def list_templates(request: Request, limit: Limit = 50, offset: Offset = 0) -> Response:
    """List the templates, newest first."""
    page = await sessions_of(request).templates.list(None, clamp_limit(limit), offset)
    templates = [mapping.to_response(template).model_dump(mode="json") for template in page.items]
    return JSONResponse(templates, headers={"X-Total-Count": str(page.total)})


@router.get("/{template_id}", responses=_RETURNS_TEMPLATE)
async def get_template(request: Request, template_id: Identifier) -> Response:
    """Return a template."""
    return json_response(mapping.to_response(await sessions_of(request).templates.get(template_id)))


@router.put("/{template_id}", responses=_RETURNS_TEMPLATE)
async def change_template(request: Request, template_id: Identifier, body: schemas.UpdateTemplateRequest) -> Response:
    """Change the given fields of a template. Existing sessions are not affected. For admins."""
    check_admin(request)
    sessions = sessions_of(request)
    template = await sessions.templates.get(template_id)
    changes = mapping.to_changes(body, template)
    if changes:
        template = await sessions.templates.change(template_id, owner_of(request), **changes)
    return json_response(mapping.to_response(template))


@router.delete("/{template_id}", responses=returns(MessageResponse))
async def delete_template(request: Request, template_id: Identifier) -> Response:
    """Delete a template. Returns 400 while it has live sessions. For admins."""
    check_admin(request)
    try:
        await sessions_of(request).templates.delete(template_id, owner_of(request))
    except Conflict as error:
        return error_response(400, str(error), request.url.path)
    return json_response(MessageResponse(message=f"the template {template_id} was deleted"))
