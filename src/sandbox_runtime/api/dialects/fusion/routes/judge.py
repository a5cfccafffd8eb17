"""Routes of the judge: datasets, their prompts, and verdicts on completions."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from sandbox_runtime.api.dialects.fusion.mapping.judge import prompt_body, to_options, verdict_body
from sandbox_runtime.api.dialects.fusion.responses import escaped_json_response, judge_response
from sandbox_runtime.api.dialects.fusion.schemas.judge import (
    EvalResult,
    GetMetricsFunctionRequest,
    GetMetricsFunctionResult,
    GetMetricsRequest,
    GetPromptByIdRequest,
    GetPromptsRequest,
    Id,
    Prompt,
    SubmitRequest,
)
from sandbox_runtime.api.openapi import json_body
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.assembly import Platform
from sandbox_runtime.model import Blame, Reason
from sandbox_runtime.model.judge import Prompt as ModelPrompt

router = APIRouter(tags=["judge"])


@router.get("/list_datasets")
async def list_datasets(request: Request) -> list[str]:
    """Return the ids of all datasets."""
    return platform_of(request).judge.datasets()


@router.post("/list_ids", openapi_extra=json_body(GetPromptsRequest), responses={200: {"model": list[Id]}})
async def list_ids(request: Request) -> Response:
    """Return the ids of a dataset's problems."""
    return await judge_response(request, GetPromptsRequest, _ids)


@router.post("/get_prompts", openapi_extra=json_body(GetPromptsRequest), responses={200: {"model": list[Prompt]}})
async def get_prompts(request: Request) -> Response:
    """Return the prompts of a dataset's problems."""
    return await judge_response(request, GetPromptsRequest, _prompts)


@router.post("/get_prompt_by_id", openapi_extra=json_body(GetPromptByIdRequest), responses={200: {"model": Prompt}})
async def get_prompt_by_id(request: Request) -> Response:
    """Return the prompt of one problem."""
    return await judge_response(request, GetPromptByIdRequest, _prompt)


@router.post("/submit", openapi_extra=json_body(SubmitRequest), responses={200: {"model": EvalResult}})
async def submit(request: Request) -> Response:
    """Judge a completion against the tests of its problem.

    A completion that could not be judged is 400 if the request is at fault and otherwise 500, never a verdict.
    """
    return await judge_response(request, SubmitRequest, _submit)


@router.post("/get_metrics", openapi_extra=json_body(GetMetricsRequest), responses={200: {"model": dict[str, Any]}})
async def get_metrics(request: Request) -> Response:
    """Return metrics that the server computes. No dataset has any: the answer is an empty object."""
    return await judge_response(request, GetMetricsRequest, _metrics)


@router.post(
    "/get_metrics_function",
    openapi_extra=json_body(GetMetricsFunctionRequest),
    responses={200: {"model": GetMetricsFunctionResult}},
)
async def get_metrics_function(request: Request) -> Response:
    """Return Python code that computes a dataset's metrics from results of /submit, for the caller to run."""
    return await judge_response(request, GetMetricsFunctionRequest, _metrics_function)


async def _list_prompts(platform: Platform, body: GetPromptsRequest) -> list[ModelPrompt]:
    return await platform.judge.prompts(
        body.dataset,
        to_options(body.dataset, body.config),
        body.offset,
        body.limit,
        provided=body.config.provided_data,
        dataset_type=body.config.dataset_type,
    )


async def _ids(platform: Platform, body: GetPromptsRequest) -> Response:
    return await escaped_json_response([prompt.id for prompt in await _list_prompts(platform, body)])


async def _prompts(platform: Platform, body: GetPromptsRequest) -> Response:
    return await escaped_json_response([prompt_body(prompt) for prompt in await _list_prompts(platform, body)])


async def _prompt(platform: Platform, body: GetPromptByIdRequest) -> Response:
    prompt = await platform.judge.prompt(
        body.dataset,
        body.id,
        to_options(body.dataset, body.config),
        provided=body.config.provided_data,
        dataset_type=body.config.dataset_type,
    )
    return await escaped_json_response(prompt_body(prompt))


async def _submit(platform: Platform, body: SubmitRequest) -> Response:
    verdict = await platform.judge.submit(
        body.dataset,
        body.id,
        body.completion,
        to_options(body.dataset, body.config),
        extract=body.config.custom_extract_logic,
        provided=body.config.provided_data,
        dataset_type=body.config.dataset_type,
    )
    if verdict.reason is Reason.not_judged:
        status = 400 if verdict.blame is Blame.caller else 500
        return JSONResponse({"detail": f"failed to request sandbox: {verdict.message}"}, status)
    return await escaped_json_response(verdict_body(body.id, verdict, platform.settings.pod_name))


async def _metrics(platform: Platform, body: GetMetricsRequest) -> Response:
    platform.judge.dataset(body.dataset, body.config.dataset_type)
    return JSONResponse({})


async def _metrics_function(platform: Platform, body: GetMetricsFunctionRequest) -> Response:
    dataset = platform.judge.dataset(body.dataset, body.config.dataset_type)
    return JSONResponse({"function": dataset.benchmark.metrics})
