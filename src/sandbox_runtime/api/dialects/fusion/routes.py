"""POST /run_code. The body is read and validated in one step, outside the framework's own machinery: this is the hot path."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError

from sandbox_runtime.api import faults
from sandbox_runtime.api.dialects.fusion.translation import answer_of, fault_of, job_of
from sandbox_runtime.api.dialects.fusion.wire import Json, RunCodeRequest, RunCodeResponse
from sandbox_runtime.api.general import body_of, platform_of
from sandbox_runtime.assembly import Platform
from sandbox_runtime.errors import InvalidRequest, SandboxError, TooMany

OVERLOADED = 504

router = APIRouter()
_BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": RunCodeRequest.model_json_schema()}}}}


async def run_code(request: Request) -> Response:
    """Run a program in a fresh box."""
    try:
        asked = RunCodeRequest.model_validate_json(await body_of(request))
    except ValidationError as error:
        return _invalid(error)
    try:
        return _json(await _run(platform_of(request), asked))
    except TooMany as error:
        return faults.answer(error, OVERLOADED)
    except InvalidRequest:
        raise
    except SandboxError as error:
        message = str(error)
    except Exception as error:
        message = f"internal error; the server's log tells more under {faults.report(request, error)}"
    return _json(fault_of(message, platform_of(request).settings.pod_name))


# The first of the two is matched, without the framework's search for dependencies (there are none); the second describes it.
router.add_route("/run_code", run_code, methods=["POST"], include_in_schema=False)
router.post("/run_code", openapi_extra=_BODY, responses={200: {"model": RunCodeResponse}})(run_code)


async def _run(platform: Platform, asked: RunCodeRequest) -> Json:
    result = await platform.engine.run(job_of(asked, platform.allowance))
    return answer_of(result, platform.settings.pod_name)


def _json(answer: Json) -> Response:
    return Response(json.dumps(answer, ensure_ascii=False).encode(), media_type="application/json")


def _invalid(error: ValidationError) -> JSONResponse:
    """In the framework's own shape, without the input: it may be large, or not even text."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return JSONResponse({"detail": [{**one, "loc": ["body", *one["loc"]]} for one in found]}, 422)
