"""POST /run_code. The hot path: pydantic reads and validates the body in one step, without FastAPI's dependency machinery."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import ValidationError

from sandbox_runtime.api.dialects.fusion.mapping.languages import language_error
from sandbox_runtime.api.dialects.fusion.mapping.programs import fault_body, result_body, to_job
from sandbox_runtime.api.dialects.fusion.responses import invalid, invalid_field, run_response
from sandbox_runtime.api.dialects.fusion.schemas.programs import PROTOCOL_LANGUAGES, Json, RunCodeRequest, RunCodeResponse
from sandbox_runtime.api.openapi import json_body
from sandbox_runtime.api.requests import offload_if_large, platform_of, read_body
from sandbox_runtime.assembly import Platform

router = APIRouter()
_PROTOCOL_LANGUAGES = frozenset(PROTOCOL_LANGUAGES)


async def run_code(request: Request) -> Response:
    """Run a program in a fresh box and return its output.

    A failure of the server is status SandboxError, not an HTTP error. On overload the response is 504 with Retry-After.
    """
    platform = platform_of(request)
    try:
        raw = await read_body(request)
        body = await offload_if_large(len(raw), RunCodeRequest.model_validate_json, raw)
    except ValidationError as error:
        return invalid(error)
    if body.language not in _PROTOCOL_LANGUAGES and (problem := language_error(platform.catalog, body.language)):
        return invalid_field("language", problem)
    return await run_response(request, _run(platform, body, len(raw)), partial(fault_body, pod_name=platform.settings.pod_name))


# Requests match the first of the two, which skips FastAPI's resolution of dependencies. The second documents it.
router.add_route("/run_code", run_code, methods=["POST"], include_in_schema=False)
router.post("/run_code", openapi_extra=json_body(RunCodeRequest), responses={200: {"model": RunCodeResponse}})(run_code)


async def _run(platform: Platform, body: RunCodeRequest, size: int) -> Json:
    job = await offload_if_large(size, to_job, body, platform.request_limits)
    result = await platform.engine.run(job)
    fetched = sum(len(file.content) for file in result.files)
    return await offload_if_large(fetched, result_body, result, job, platform.settings.pod_name)
