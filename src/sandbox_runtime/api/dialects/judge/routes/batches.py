"""The routes of batches."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from sandbox_runtime.api.caller import caller_of, owner_of
from sandbox_runtime.api.dialects.judge.mapping import batch_answer, summary_answer
from sandbox_runtime.api.dialects.judge.request_body import sent
from sandbox_runtime.api.dialects.judge.schemas import BatchAnswer, BatchList, BatchRequest, SummaryAnswer
from sandbox_runtime.api.openapi import body_schema
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.api.sse import KEEP_ALIVE, STREAM_HEADERS, event, event_stream
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.batches import Batches
from sandbox_runtime.model import Batch, BatchState
from sandbox_runtime.store import BatchFilter

PREFIX = "/api/v1/judge/batches"
router = APIRouter(prefix=PREFIX, tags=["judge"])
Dataset = Annotated[str, Query(max_length=128, description="Id of the dataset, where the body does not name it.")]
Config = Annotated[str, Query(max_length=65_536, description="Options for every completion, as a JSON object.")]
PassAt = Annotated[str, Query(max_length=200, description="Values of k, with commas.")]
_MOST = 2**53
_BODIES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-ndjson": {
                "schema": {
                    "type": "string",
                    "description": 'Lines of JSON: {"id": …, "completion": "…", "sample": …, "config": {…}}',
                }
            },
            "application/json": {"schema": body_schema(BatchRequest)},
            "multipart/form-data": {
                "schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}
            },
        },
    }
}


def batches_of(request: Request) -> Batches:
    return platform_of(request).batches


@router.post("", status_code=201, response_model=BatchAnswer, openapi_extra=_BODIES)
async def create(request: Request, response: Response, dataset: Dataset = "", config: Config = "") -> BatchAnswer:
    """Send completions to be judged: 201 with the batch, or 200 with the one that the Idempotency-Key made before."""
    found = await sent(request, dataset, config)
    caller = caller_of(request)
    batch, new = await batches_of(request).create(
        found.dataset, found.config, found.pieces, owner=caller.owner, key=found.key, actor=caller.key
    )
    response.status_code = 201 if new else 200
    return _told(batch)


@router.get("")
async def list_batches(
    request: Request,
    dataset: Dataset = "",
    status: Annotated[str, Query(max_length=20)] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> BatchList:
    """Newest first."""
    states = (_state(status),) if status else None
    wanted = BatchFilter(owner=owner_of(request) or None, dataset=dataset or None, states=states)
    page = await batches_of(request).list(wanted, limit, offset)
    items = [_told(batch) for batch in page.items]
    return BatchList(items=items, total=page.total, limit=limit, offset=offset, has_more=page.has_more)


@router.get("/{batch_id}")
async def get(request: Request, batch_id: str) -> BatchAnswer:
    """How it stands now."""
    return _told(await batches_of(request).get(batch_id, owner_of(request)))


@router.get("/{batch_id}/events", response_class=StreamingResponse)
async def events(request: Request, batch_id: str) -> Response:
    """Server-sent events `progress` with the batch, at most four a second, and one called `end`."""
    batches, owner = batches_of(request), owner_of(request)
    await batches.get(batch_id, owner)
    return event_stream(_progress(batches, batch_id, owner))


async def _progress(batches: Batches, batch_id: str, owner: str) -> AsyncIterator[str]:
    async for batch in batches.follow(batch_id, owner):
        if batch is None:
            yield KEEP_ALIVE
            continue
        yield event(_told(batch).model_dump_json(), name="end" if batch.ended else "progress")


@router.get("/{batch_id}/results", response_class=StreamingResponse)
async def results(
    request: Request,
    batch_id: str,
    offset: Annotated[int, Query(ge=0, le=_MOST, description="Byte of the results to begin at; whole lines are sent.")] = 0,
    follow: Annotated[bool, Query(description="Go on until the batch has ended.")] = False,
) -> Response:
    """Lines of JSON in the order in which completions were judged; `index` is the number of the line that was sent."""
    batches, owner = batches_of(request), owner_of(request)
    await batches.get(batch_id, owner)
    lines = batches.results(batch_id, owner, offset=offset, follow=follow)
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=STREAM_HEADERS)


@router.get("/{batch_id}/summary")
async def summary(request: Request, batch_id: str, pass_at: PassAt = "1") -> SummaryAnswer:
    """Scores of what was judged up to now: pass@k over all problems, and by language, difficulty and category."""
    found = await batches_of(request).summary(batch_id, owner_of(request), _ks(pass_at))
    return summary_answer(found)


@router.post("/{batch_id}/cancel")
async def cancel(request: Request, batch_id: str) -> BatchAnswer:
    """Stop it. What was judged stays."""
    caller = caller_of(request)
    return _told(await batches_of(request).cancel(batch_id, caller.owner, caller.key))


@router.delete("/{batch_id}", status_code=204)
async def delete(request: Request, batch_id: str) -> None:
    """Forget it, results and all; one that still goes on is cancelled first."""
    caller = caller_of(request)
    await batches_of(request).delete(batch_id, caller.owner, caller.key)


def _told(batch: Batch) -> BatchAnswer:
    return batch_answer(batch, json.loads(batch.config_json or "{}"))


def _state(text: str) -> BatchState:
    try:
        return BatchState(text)
    except ValueError as error:
        raise InvalidRequest(f"a batch is {', '.join(BatchState)}, not {text!r}") from error


def _ks(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 0 < int(part) <= 10_000 for part in parts):
        raise InvalidRequest("pass_at is a list of whole numbers from 1 on, with commas: 1,5,10")
    return tuple(dict.fromkeys(int(part) for part in parts))
