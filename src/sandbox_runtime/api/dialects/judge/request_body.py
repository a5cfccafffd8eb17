"""Read a batch from a request, in any of its forms, as chunks of JSON lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from pydantic import ValidationError

from sandbox_runtime.api.dialects.judge.schemas import BatchRequest
from sandbox_runtime.api.multipart import open_file_part
from sandbox_runtime.api.requests import body_chunks, read_body
from sandbox_runtime.errors import InvalidRequest

JSON_LINES_TYPES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "text/plain")


@dataclass(frozen=True, slots=True)
class BatchUpload:
    dataset: str
    config: dict[str, Any]
    key: str
    """The idempotency key; "" for none."""
    chunks: AsyncIterator[bytes]
    """The completions as JSON lines, cut anywhere."""


async def read_upload(request: Request, dataset: str, config: str) -> BatchUpload:
    """Return the batch in the request. Raises InvalidRequest for an unsupported content type."""
    media_type = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    key = request.headers.get("idempotency-key", "")
    if media_type == "application/json":
        return _parse_object(await read_body(request), dataset, config, key)
    options = _parse_config(config)
    if not dataset:
        raise InvalidRequest("the dataset is missing: add ?dataset=… to the address")
    if media_type == "multipart/form-data":
        return BatchUpload(dataset, options, key, (await open_file_part(request)).chunks())
    if media_type in JSON_LINES_TYPES:
        return BatchUpload(dataset, options, key, body_chunks(request))
    raise InvalidRequest(
        f"unsupported content type: send JSON lines as {JSON_LINES_TYPES[0]}, a form with a file, or one JSON object as "
        "application/json"
    )


def _parse_object(raw: bytes, dataset: str, config: str, key: str) -> BatchUpload:
    try:
        body = BatchRequest.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the body"
        raise InvalidRequest(f"{field}: {first['msg']}") from error
    if dataset and dataset != body.dataset:
        raise InvalidRequest("the address and the body name different datasets")
    return BatchUpload(body.dataset, body.config | _parse_config(config), key or body.idempotency_key, _json_lines(body))


async def _json_lines(body: BatchRequest) -> AsyncIterator[bytes]:
    for completion in body.completions:
        yield json.dumps(completion).encode() + b"\n"


def _parse_config(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"config is not JSON: {error}") from error
    if not isinstance(config, dict):
        raise InvalidRequest("config must be a JSON object")
    return config
