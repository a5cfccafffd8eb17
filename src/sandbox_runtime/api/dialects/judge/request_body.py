"""The completions of a batch on their way in, whichever form they come in, as pieces of JSON lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from pydantic import ValidationError

from sandbox_runtime.api.dialects.judge.schemas import BatchRequest
from sandbox_runtime.api.multipart import file_part
from sandbox_runtime.api.requests import body_of, pieces_of
from sandbox_runtime.errors import InvalidRequest

LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "text/plain")


@dataclass(frozen=True, slots=True)
class Sent:
    dataset: str
    config: dict[str, Any]
    key: str
    pieces: AsyncIterator[bytes]


async def sent(request: Request, dataset: str, config: str) -> Sent:
    """Raises InvalidRequest for a form that is none of ours."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    key = request.headers.get("idempotency-key", "")
    if kind == "application/json":
        return _whole(await body_of(request), dataset, config, key)
    options = _config(config)
    if not dataset:
        raise InvalidRequest("say which dataset: ?dataset=…")
    if kind == "multipart/form-data":
        return Sent(dataset, options, key, (await file_part(request)).pieces())
    if kind in LINES:
        return Sent(dataset, options, key, pieces_of(request))
    raise InvalidRequest(f"send JSON lines as {LINES[0]}, as a form with a file, or one JSON object as application/json")


def _whole(body: bytes, dataset: str, config: str, key: str) -> Sent:
    try:
        asked = BatchRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise InvalidRequest(f"{where}: {first['msg']}") from error
    if dataset and dataset != asked.dataset:
        raise InvalidRequest("the address and the body name different datasets")
    return Sent(asked.dataset, asked.config | _config(config), key or asked.idempotency_key, _written(asked))


async def _written(asked: BatchRequest) -> AsyncIterator[bytes]:
    for line in asked.completions:
        yield json.dumps(line).encode() + b"\n"


def _config(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"config is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise InvalidRequest("config must be a JSON object")
    return config
