"""The judge: datasets, their prompts, and verdicts of completions."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from sandbox_runtime.api.dialects.fusion.mapping.judge import options_of, prompt_of, result_of
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
    """The ids of all datasets."""
    return platform_of(request).judge.datasets()


@router.post("/list_ids", openapi_extra=json_body(GetPromptsRequest), responses={200: {"model": list[Id]}})
async def list_ids(request: Request) -> Response:
    """The ids of a dataset's problems."""
    return await judge_response(request, GetPromptsRequest, _ids)


@router.post("/get_prompts", openapi_extra=json_body(GetPromptsRequest), responses={200: {"model": list[Prompt]}})
async def get_prompts(request: Request) -> Response:
    """The prompts of a dataset's problems."""
    return await judge_response(request, GetPromptsRequest, _prompts)


@router.post("/get_prompt_by_id", openapi_extra=json_body(GetPromptByIdRequest), responses={200: {"model": Prompt}})
async def get_prompt_by_id(request: Request) -> Response:
    """The prompt of one problem."""
    return await judge_response(request, GetPromptByIdRequest, _prompt)


@router.post("/submit", openapi_extra=json_body(SubmitRequest), responses={200: {"model": EvalResult}})
async def submit(request: Request) -> Response:
    """Judge a completion."""
    return await judge_response(request, SubmitRequest, _submit)


@router.post("/get_metrics", openapi_extra=json_body(GetMetricsRequest), responses={200: {"model": dict[str, Any]}})
async def get_metrics(request: Request) -> Response:
    """Metrics that the server works out itself: no dataset has any."""
    return await judge_response(request, GetMetricsRequest, _metrics)


@router.post(
    "/get_metrics_function",
    openapi_extra=json_body(GetMetricsFunctionRequest),
    responses={200: {"model": GetMetricsFunctionResult}},
)
async def get_metrics_function(request: Request) -> Response:
    """Python that works out a dataset's metrics from its results, for the caller to run."""
    return await judge_response(request, GetMetricsFunctionRequest, _metrics_function)


async def _listed(platform: Platform, asked: GetPromptsRequest) -> list[ModelPrompt]:
    return await platform.judge.prompts(
        asked.dataset,
        options_of(asked.dataset, asked.config),
        asked.offset,
        asked.limit,
        provided=asked.config.provided_data,
        dataset_type=asked.config.dataset_type,
    )


async def _ids(platform: Platform, asked: GetPromptsRequest) -> Response:
    return await escaped_json_response([prompt.id for prompt in await _listed(platform, asked)])


async def _prompts(platform: Platform, asked: GetPromptsRequest) -> Response:
    return await escaped_json_response([prompt_of(prompt) for prompt in await _listed(platform, asked)])


async def _prompt(platform: Platform, asked: GetPromptByIdRequest) -> Response:
    found = await platform.judge.prompt(
        asked.dataset,
        asked.id,
        options_of(asked.dataset, asked.config),
        provided=asked.config.provided_data,
        dataset_type=asked.config.dataset_type,
    )
    return await escaped_json_response(prompt_of(found))


async def _submit(platform: Platform, asked: SubmitRequest) -> Response:
    verdict = await platform.judge.submit(
        asked.dataset,
        asked.id,
        asked.completion,
        options_of(asked.dataset, asked.config),
        extract=asked.config.custom_extract_logic,
        provided=asked.config.provided_data,
        dataset_type=asked.config.dataset_type,
    )
    if verdict.reason is Reason.not_judged:
        status = 400 if verdict.blame is Blame.caller else 500
        return JSONResponse({"detail": f"failed to request sandbox: {verdict.message}"}, status)
    return await escaped_json_response(result_of(asked.id, verdict, platform.settings.pod_name))


async def _metrics(platform: Platform, asked: GetMetricsRequest) -> Response:
    platform.judge.dataset(asked.dataset, asked.config.dataset_type)
    return JSONResponse({})


async def _metrics_function(platform: Platform, asked: GetMetricsFunctionRequest) -> Response:
    found = platform.judge.dataset(asked.dataset, asked.config.dataset_type)
    return JSONResponse({"function": found.benchmark.metrics})
