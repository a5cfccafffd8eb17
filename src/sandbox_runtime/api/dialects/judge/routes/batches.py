"""Routes of batches."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from sandbox_runtime.api.caller import caller_of, owner_of
from sandbox_runtime.api.dialects.judge.mapping import to_batch_response, to_summary_response
from sandbox_runtime.api.dialects.judge.request_body import read_upload
from sandbox_runtime.api.dialects.judge.schemas import BatchList, BatchRequest, BatchResponse, SummaryResponse
from sandbox_runtime.api.openapi import body_schema
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.api.sse import KEEP_ALIVE, STREAM_HEADERS, event, event_stream
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.batches import Batches
from sandbox_runtime.model import BatchState
from sandbox_runtime.store import BatchFilter

PREFIX = "/api/v1/judge/batches"
router = APIRouter(prefix=PREFIX, tags=["judge"])
Dataset = Annotated[str, Query(max_length=128, description="Id of the dataset. Required unless the body is a JSON object.")]
Config = Annotated[str, Query(max_length=65_536, description="Options for every completion, as a JSON object.")]
PassAt = Annotated[str, Query(max_length=200, description="Values of k, separated by commas.")]
_MAX_INTEGER = 2**53
"""Above this, numbers of JSON lose precision in many clients."""
_BODIES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/x-ndjson": {
                "schema": {
                    "type": "string",
                    "description": 'JSON lines: {"id": …, "completion": "…", "sample": …, "config": {…}}',
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


@router.post("", status_code=201, response_model=BatchResponse, openapi_extra=_BODIES)
async def create(request: Request, response: Response, dataset: Dataset = "", config: Config = "") -> BatchResponse:
    """Create a batch of completions to judge.

    Returns 201 with the batch, or 200 with the existing batch if the Idempotency-Key was used before.
    """
    upload = await read_upload(request, dataset, config)
    caller = caller_of(request)
    batch, new = await batches_of(request).create(
        upload.dataset, upload.config, upload.chunks, owner=caller.owner, key=upload.key, actor=caller.key
    )
    response.status_code = 201 if new else 200
    return to_batch_response(batch)


@router.get("")
async def list_batches(
    request: Request,
    dataset: Annotated[str, Query(max_length=128, description="Only batches of this dataset.")] = "",
    status: Annotated[str, Query(max_length=20, description="Only batches with this status.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> BatchList:
    """List the caller's batches, newest first."""
    states = (_parse_state(status),) if status else None
    batch_filter = BatchFilter(owner=owner_of(request) or None, dataset=dataset or None, states=states)
    page = await batches_of(request).list(batch_filter, limit, offset)
    items = [to_batch_response(batch) for batch in page.items]
    return BatchList(items=items, total=page.total, limit=limit, offset=offset, has_more=page.has_more)


@router.get("/{batch_id}")
async def get(request: Request, batch_id: str) -> BatchResponse:
    """Return a batch with its progress."""
    return to_batch_response(await batches_of(request).get(batch_id, owner_of(request)))


@router.get("/{batch_id}/events", response_class=StreamingResponse)
async def events(request: Request, batch_id: str) -> Response:
    """Stream the progress as server-sent events: `progress` with the batch, at most four a second, then one `end`."""
    batches, owner = batches_of(request), owner_of(request)
    await batches.get(batch_id, owner)
    return event_stream(_progress(batches, batch_id, owner))


async def _progress(batches: Batches, batch_id: str, owner: str) -> AsyncIterator[str]:
    async for batch in batches.follow(batch_id, owner):
        if batch is None:
            yield KEEP_ALIVE
            continue
        yield event(to_batch_response(batch).model_dump_json(), name="end" if batch.ended else "progress")


@router.get("/{batch_id}/results", response_class=StreamingResponse)
async def results(
    request: Request,
    batch_id: str,
    offset: Annotated[
        int, Query(ge=0, le=_MAX_INTEGER, description="Byte offset in the results to start at; only whole lines are sent.")
    ] = 0,
    follow: Annotated[bool, Query(description="Keep streaming until the batch has ended.")] = False,
) -> Response:
    """Return the results as JSON lines, in the order in which they were judged. `index` is the line number of the completion."""
    batches, owner = batches_of(request), owner_of(request)
    await batches.get(batch_id, owner)
    lines = batches.results(batch_id, owner, offset=offset, follow=follow)
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=STREAM_HEADERS)


@router.get("/{batch_id}/summary")
async def summary(request: Request, batch_id: str, pass_at: PassAt = "1") -> SummaryResponse:
    """Return the scores so far: pass@k over all problems, and by language, difficulty and category."""
    scores = await batches_of(request).summary(batch_id, owner_of(request), _parse_pass_at(pass_at))
    return to_summary_response(scores)


@router.post("/{batch_id}/cancel")
async def cancel(request: Request, batch_id: str) -> BatchResponse:
    """Cancel a batch. Results so far are kept."""
    caller = caller_of(request)
    return to_batch_response(await batches_of(request).cancel(batch_id, caller.owner, caller.key))


@router.delete("/{batch_id}", status_code=204)
async def delete(request: Request, batch_id: str) -> None:
    """Delete a batch and its results. A running batch is cancelled first."""
    caller = caller_of(request)
    await batches_of(request).delete(batch_id, caller.owner, caller.key)


def _parse_state(text: str) -> BatchState:
    try:
        return BatchState(text)
    except ValueError as error:
        raise InvalidRequest(f"status must be one of {', '.join(BatchState)}, not {text!r}") from error


def _parse_pass_at(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 0 < int(part) <= 10_000 for part in parts):
        raise InvalidRequest("pass_at must be integers from 1 to 10000, separated by commas: 1,5,10")
    return tuple(dict.fromkeys(int(part) for part in parts))
