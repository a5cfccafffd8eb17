"""The calls. Each function and its `_async` twin are one line over the same description of the call."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, TypeAdapter

from sandbox_runtime.errors import SandboxError
from sandbox_runtime.sdk.drivers import drive, drive_async
from sandbox_runtime.sdk.endpoints import dataset_endpoint, sandbox_endpoint
from sandbox_runtime.sdk.exchange import Call
from sandbox_runtime.sdk.execution_models import RunCodeRequest, RunCodeResponse, RunJupyterRequest, RunJupyterResponse
from sandbox_runtime.sdk.judge_models import EvalResult, GetPromptByIdRequest, GetPromptsRequest, Prompt, SubmitRequest

Result = TypeVar("Result")

_RAN = TypeAdapter(RunCodeResponse)
_RAN_CELLS = TypeAdapter(RunJupyterResponse)
_PROMPT = TypeAdapter(Prompt)
_PROMPTS = TypeAdapter(list[Prompt])
_VERDICT = TypeAdapter(EvalResult)


def run_code(
    request: RunCodeRequest, endpoint: str = "", max_attempts: int = 5, client_timeout: float | None = None
) -> RunCodeResponse:
    """Run a program."""
    return drive(_run_code(request, endpoint, max_attempts, client_timeout))


async def run_code_async(
    request: RunCodeRequest, endpoint: str = "", max_attempts: int = 5, client_timeout: float | None = None
) -> RunCodeResponse:
    return await drive_async(_run_code(request, endpoint, max_attempts, client_timeout))


def run_jupyter(
    request: RunJupyterRequest, endpoint: str = "", max_attempts: int = 3, client_timeout: float | None = None
) -> RunJupyterResponse:
    """Run cells, one after another, in a kernel of their own."""
    return drive(_run_jupyter(request, endpoint, max_attempts, client_timeout))


async def run_jupyter_async(
    request: RunJupyterRequest, endpoint: str = "", max_attempts: int = 3, client_timeout: float | None = None
) -> RunJupyterResponse:
    return await drive_async(_run_jupyter(request, endpoint, max_attempts, client_timeout))


def get_prompts(
    request: GetPromptsRequest, endpoint: str = "", max_attempts: int = 1, client_timeout: float | None = None
) -> list[Prompt]:
    """The prompts of a dataset."""
    return drive(_judging("/get_prompts", _PROMPTS, request, endpoint, max_attempts, client_timeout))


async def get_prompts_async(
    request: GetPromptsRequest, endpoint: str = "", max_attempts: int = 1, client_timeout: float | None = None
) -> list[Prompt]:
    return await drive_async(_judging("/get_prompts", _PROMPTS, request, endpoint, max_attempts, client_timeout))


def get_prompt_by_id(
    request: GetPromptByIdRequest, endpoint: str = "", max_attempts: int = 1, client_timeout: float | None = None
) -> Prompt:
    """One prompt of a dataset."""
    return drive(_judging("/get_prompt_by_id", _PROMPT, request, endpoint, max_attempts, client_timeout))


async def get_prompt_by_id_async(
    request: GetPromptByIdRequest, endpoint: str = "", max_attempts: int = 1, client_timeout: float | None = None
) -> Prompt:
    return await drive_async(_judging("/get_prompt_by_id", _PROMPT, request, endpoint, max_attempts, client_timeout))


def submit(request: SubmitRequest, endpoint: str = "", max_attempts: int = 5, client_timeout: float | None = None) -> EvalResult:
    """What the judge says of a completion."""
    return drive(_judging("/submit", _VERDICT, request, endpoint, max_attempts, client_timeout))


async def submit_async(
    request: SubmitRequest, endpoint: str = "", max_attempts: int = 5, client_timeout: float | None = None
) -> EvalResult:
    return await drive_async(_judging("/submit", _VERDICT, request, endpoint, max_attempts, client_timeout))


def submit_safe(
    request: SubmitRequest, endpoint: str = "", max_attempts: int = 5, client_timeout: float | None = None
) -> EvalResult:
    """As submit; where that raises, a rejected result whose `extra` tells of the error. Look there before you count it."""
    try:
        return submit(request, endpoint, max_attempts, client_timeout)
    except SandboxError as error:
        return _rejected(request, error)


async def submit_safe_async(
    request: SubmitRequest, endpoint: str = "", max_attempts: int = 5, client_timeout: float | None = None
) -> EvalResult:
    try:
        return await submit_async(request, endpoint, max_attempts, client_timeout)
    except SandboxError as error:
        return _rejected(request, error)


def _run_code(request: RunCodeRequest, endpoint: str, attempts: int, timeout_s: float | None) -> Call[RunCodeResponse]:
    return Call(f"{sandbox_endpoint(endpoint)}/run_code", request, _RAN, attempts, timeout_s)


def _run_jupyter(request: RunJupyterRequest, endpoint: str, attempts: int, timeout_s: float | None) -> Call[RunJupyterResponse]:
    return Call(f"{sandbox_endpoint(endpoint)}/run_jupyter", request, _RAN_CELLS, attempts, timeout_s)


def _judging(
    path: str, answer: TypeAdapter[Result], request: BaseModel, endpoint: str, attempts: int, timeout_s: float | None
) -> Call[Result]:
    return Call(f"{dataset_endpoint(endpoint)}{path}", request, answer, attempts, timeout_s)


def _rejected(request: SubmitRequest, error: SandboxError) -> EvalResult:
    return EvalResult(id=request.id, accepted=False, extracted_code="", tests=[], extra={"error": str(error)})
