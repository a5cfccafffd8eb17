"""POST /run_jupyter."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import ValidationError

from sandbox_runtime.api.dialects.fusion.mapping.notebooks import fault_body, result_body, to_notebook
from sandbox_runtime.api.dialects.fusion.responses import invalid, run_response
from sandbox_runtime.api.dialects.fusion.schemas.notebooks import RunJupyterRequest, RunJupyterResponse
from sandbox_runtime.api.dialects.fusion.schemas.programs import Json
from sandbox_runtime.api.openapi import json_body
from sandbox_runtime.api.requests import offload_if_large, platform_of, read_body
from sandbox_runtime.assembly import Platform

router = APIRouter()


@router.post("/run_jupyter", openapi_extra=json_body(RunJupyterRequest), responses={200: {"model": RunJupyterResponse}})
async def run_jupyter(request: Request) -> Response:
    """Run the cells of a notebook in a fresh kernel and box, and return what each printed and displayed."""
    platform = platform_of(request)
    try:
        raw = await read_body(request)
        body = await offload_if_large(len(raw), RunJupyterRequest.model_validate_json, raw)
    except ValidationError as error:
        return invalid(error)
    return await run_response(request, _run(platform, body, len(raw)), partial(fault_body, pod_name=platform.settings.pod_name))


async def _run(platform: Platform, body: RunJupyterRequest, size: int) -> Json:
    notebook = await offload_if_large(size, to_notebook, body, platform.request_limits)
    return result_body(await platform.notebooks.run(notebook), notebook, platform.settings.pod_name)
