"""POST /run_code. The body is read and validated in one step, outside the framework's own machinery: this is the hot path."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import ValidationError

from sandbox_runtime.api.dialects.fusion.mapping.languages import unknown_language
from sandbox_runtime.api.dialects.fusion.mapping.programs import answer_of, fault_of, job_of
from sandbox_runtime.api.dialects.fusion.responses import invalid, invalid_field, run_response
from sandbox_runtime.api.dialects.fusion.schemas.programs import LANGUAGES, Json, RunCodeRequest, RunCodeResponse
from sandbox_runtime.api.openapi import json_body
from sandbox_runtime.api.requests import body_of, in_turn, platform_of
from sandbox_runtime.assembly import Platform

router = APIRouter()
_KNOWN = frozenset(LANGUAGES)


async def run_code(request: Request) -> Response:
    """Run a program in a fresh box."""
    platform = platform_of(request)
    try:
        body = await body_of(request)
        asked = await in_turn(len(body), RunCodeRequest.model_validate_json, body)
    except ValidationError as error:
        return invalid(error)
    if asked.language not in _KNOWN and (refusal := unknown_language(platform.catalog, asked.language)):
        return invalid_field("language", refusal)
    return await run_response(request, _run(platform, asked, len(body)), partial(fault_of, pod_name=platform.settings.pod_name))


# The first of the two is matched, without the framework's search for dependencies (there are none); the second describes it.
router.add_route("/run_code", run_code, methods=["POST"], include_in_schema=False)
router.post("/run_code", openapi_extra=json_body(RunCodeRequest), responses={200: {"model": RunCodeResponse}})(run_code)


async def _run(platform: Platform, asked: RunCodeRequest, size: int) -> Json:
    job = await in_turn(size, job_of, asked, platform.allowance)
    result = await platform.engine.run(job)
    fetched = sum(len(file.content) for file in result.files)
    return await in_turn(fetched, answer_of, result, job, platform.settings.pod_name)
