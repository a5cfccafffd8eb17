"""The functions of SandboxFusion's client. Each call opens its own connection."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, TypeAdapter

from sandbox_runtime.errors import SandboxError
from sandbox_runtime.sdk.blocking.transport import Transport
from sandbox_runtime.sdk.endpoints import dataset_endpoint, sandbox_endpoint
from sandbox_runtime.sdk.execution_models import RunCodeRequest, RunCodeResponse, RunJupyterRequest, RunJupyterResponse
from sandbox_runtime.sdk.judge_models import EvalResult, GetPromptByIdRequest, GetPromptsRequest, Prompt, SubmitRequest
from sandbox_runtime.sdk.requests import Request

Result = TypeVar("Result")

_RUN_CODE = TypeAdapter(RunCodeResponse)
_RUN_JUPYTER = TypeAdapter(RunJupyterResponse)
_PROMPT = TypeAdapter(Prompt)
_PROMPTS = TypeAdapter(list[Prompt])
_EVAL_RESULT = TypeAdapter(EvalResult)


def run_code(
    request: RunCodeRequest, endpoint: str = "", max_attempts: int = 5, client_timeout: float | None = None
) -> RunCodeResponse:
    """Run a program."""
    return _post(sandbox_endpoint(endpoint), "/run_code", _RUN_CODE, request, max_attempts, client_timeout)


def run_jupyter(
    request: RunJupyterRequest, endpoint: str = "", max_attempts: int = 3, client_timeout: float | None = None
) -> RunJupyterResponse:
    """Run cells one after another in a new kernel."""
    return _post(sandbox_endpoint(endpoint), "/run_jupyter", _RUN_JUPYTER, request, max_attempts, client_timeout)


def get_prompts(
    request: GetPromptsRequest, endpoint: str = "", max_attempts: int = 1, client_timeout: float | None = None
) -> list[Prompt]:
    """Return the prompts of a dataset."""
    return _post(dataset_endpoint(endpoint), "/get_prompts", _PROMPTS, request, max_attempts, client_timeout)


def get_prompt_by_id(
    request: GetPromptByIdRequest, endpoint: str = "", max_attempts: int = 1, client_timeout: float | None = None
) -> Prompt:
    """Return one prompt of a dataset."""
    return _post(dataset_endpoint(endpoint), "/get_prompt_by_id", _PROMPT, request, max_attempts, client_timeout)


def submit(request: SubmitRequest, endpoint: str = "", max_attempts: int = 5, client_timeout: float | None = None) -> EvalResult:
    """Judge a completion."""
    return _post(dataset_endpoint(endpoint), "/submit", _EVAL_RESULT, request, max_attempts, client_timeout)


def submit_safe(
    request: SubmitRequest, endpoint: str = "", max_attempts: int = 5, client_timeout: float | None = None
) -> EvalResult:
    """Judge a completion; on an error return a rejected result with the error in `extra`. Check it before counting the result."""
    try:
        return submit(request, endpoint, max_attempts, client_timeout)
    except SandboxError as error:
        return EvalResult(id=request.id, accepted=False, extracted_code="", tests=[], extra={"error": str(error)})


def _post(
    base_url: str, path: str, model: TypeAdapter[Result], body: BaseModel, max_attempts: int, client_timeout: float | None
) -> Result:
    headers = {"Content-Type": "application/json"}
    request = Request("POST", path, content=body.model_dump_json().encode(), headers=headers, is_client_timeout=True)
    transport = Transport(base_url, None, client_timeout, max_attempts)
    try:
        return transport.call(request, model)
    finally:
        transport.close()
