"""Batches over HTTP with real boxes: uploads in every form, events, results, cancelling, and recovery after a restart."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.api.keys import new_key
from tests.api.servers import RunningServer, listening

from sandbox_runtime.sdk import SandboxClient
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")
AT = "/api/v1/judge/batches"
ROW = {"id": 1, "content": "Write add.", "labels": {}, "test_list": ["assert add(2, 3) == 5", "assert add(-1, 1) == 0"]}
OTHER = {"id": 2, "content": "Write twice.", "labels": {"difficulty": "hard"}, "test_list": ["assert twice(4) == 8"]}
ADD = "```python\ndef add(a, b):\n    return a + b\n```"
SUBTRACT = "```python\ndef add(a, b):\n    return a - b\n```"
TWICE = "```python\ndef twice(a):\n    return a * 2\n```"
STUCK = "```python\nimport time\ntime.sleep(3600)\n```"
WITHIN_S = 120.0


def settings_in(folder: Path, **changes: Any) -> Settings:
    rows = folder / "rows"
    rows.mkdir(exist_ok=True)
    (rows / "code_eval_mbpp.jsonl").write_text("".join(json.dumps(row) + "\n" for row in (ROW, OTHER)))
    return Settings(
        **{
            "state_dir": str(folder / "state"),
            "datasets_dir": str(rows),
            "started_pool_size": 0,
            "check_languages": False,
            "log_level": "error",
            "batch_max_bytes": 1_000_000,
            "batch_max_line_bytes": 10_000,
            **changes,
        }
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningServer]:
    async with listening(settings_in(tmp_path_factory.mktemp("judge")), sessions=True) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="module")
async def client(server: RunningServer) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as opened:
        yield opened


def lines(*completions: tuple[int, str], **more: Any) -> bytes:
    return b"".join(json.dumps({"id": row_id, "completion": text, **more}).encode() + b"\n" for row_id, text in completions)


async def send(client: httpx.AsyncClient, content: bytes, **headers: str) -> httpx.Response:
    kind = {"Content-Type": "application/x-ndjson", **headers}
    return await client.post(AT, params={"dataset": "mbpp"}, content=content, headers=kind)


async def wait_until_ended(client: httpx.AsyncClient, batch_id: str) -> dict[str, Any]:
    async with asyncio.timeout(WITHIN_S), client.stream("GET", f"{AT}/{batch_id}/events", timeout=WITHIN_S) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        async for line in answer.aiter_lines():
            name = line.removeprefix("event: ") if line.startswith("event: ") else name
            if line.startswith("data: ") and name == "end":
                return dict(json.loads(line.removeprefix("data: ")))
    raise AssertionError("the events ended without an end")


async def results(client: httpx.AsyncClient, batch_id: str, **query: Any) -> list[dict[str, Any]]:
    answer = await client.get(f"{AT}/{batch_id}/results", params=query)
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_json_lines_are_judged_and_told_with_their_reasons(client: httpx.AsyncClient) -> None:
    answer = await send(client, lines((1, ADD), (1, SUBTRACT), (2, TWICE), (2, "no code at all")))
    assert answer.status_code == 201
    done = await wait_until_ended(client, answer.json()["id"])
    assert (done["status"], done["total"], done["judged"], done["accepted"]) == ("completed", 4, 4, 2)
    judged = sorted(await results(client, done["id"]), key=lambda item: item["index"])
    assert [item["accepted"] for item in judged] == [True, False, True, False]
    assert judged[1]["blame"] == "program" and judged[2]["groups"] == {"difficulty": "hard"}


async def test_a_form_and_a_whole_object_say_the_same(client: httpx.AsyncClient) -> None:
    form = await client.post(AT, params={"dataset": "mbpp"}, files={"file": ("answers.jsonl", lines((1, ADD)))})
    whole = await client.post(AT, json={"dataset": "mbpp", "completions": [{"id": 1, "completion": ADD, "sample": "a"}]})
    for answer in (form, whole):
        assert answer.status_code == 201, answer.text
        assert (await wait_until_ended(client, answer.json()["id"]))["accepted"] == 1


async def test_a_key_that_was_used_finds_the_batch_and_nothing_is_judged_twice(client: httpx.AsyncClient) -> None:
    first = await send(client, lines((1, ADD)), **{"Idempotency-Key": "run-7"})
    again = await send(client, lines((1, SUBTRACT)), **{"Idempotency-Key": "run-7"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]


async def test_scores_are_told_by_group(client: httpx.AsyncClient) -> None:
    batch = (await send(client, lines((1, ADD), (1, SUBTRACT), (2, TWICE)))).json()["id"]
    await wait_until_ended(client, batch)
    summary = (await client.get(f"{AT}/{batch}/summary", params={"pass_at": "1,2"})).json()
    assert summary["total"]["pass_at"] == {"1": 0.75, "2": 1.0}
    assert summary["groups"]["difficulty"]["hard"]["pass_at"] == {"1": 1.0}


async def test_a_cancelled_batch_leaves_no_box(client: httpx.AsyncClient, server: RunningServer) -> None:
    batch = (await send(client, lines(*[(1, STUCK)] * 3))).json()["id"]
    async with asyncio.timeout(WITHIN_S):
        while not server.platform.pool.in_use:
            await asyncio.sleep(0.02)
    cancelled = await client.post(f"{AT}/{batch}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    async with asyncio.timeout(WITHIN_S):
        while server.platform.pool.in_use:
            await asyncio.sleep(0.02)
    assert (await client.post(f"{AT}/{batch}/cancel")).status_code == 409
    assert (await client.delete(f"{AT}/{batch}")).status_code == 204
    assert (await client.get(f"{AT}/{batch}")).status_code == 404


async def test_batches_are_listed_newest_first(client: httpx.AsyncClient) -> None:
    batch = (await send(client, lines((1, ADD)))).json()["id"]
    await wait_until_ended(client, batch)
    page = (await client.get(AT, params={"limit": 1, "status": "completed"})).json()
    assert page["items"][0]["id"] == batch and page["total"] >= 1


@pytest.mark.parametrize(
    ("query", "kind", "content", "status"),
    [
        ({}, "application/x-ndjson", lines((1, ADD)), 422),
        ({"dataset": "nobody-knows"}, "application/x-ndjson", lines((1, ADD)), 404),
        ({"dataset": "mbpp"}, "application/x-ndjson", b"", 422),
        ({"dataset": "mbpp"}, "application/x-ndjson", b"{", 422),
        ({"dataset": "mbpp"}, "application/x-ndjson", lines((1, "x" * 20_000)), 422),
        ({"dataset": "mbpp"}, "application/x-ndjson", b"\n" * 3_000_000, 413),
        ({"dataset": "mbpp"}, "application/x-ndjson", gzip.compress(lines((1, ADD)), mtime=0), 422),
        ({"dataset": "mbpp", "config": "{"}, "application/x-ndjson", lines((1, ADD)), 422),
        ({"dataset": "mbpp", "config": '{"colour": 1}'}, "application/x-ndjson", lines((1, ADD)), 422),
        ({"dataset": "mbpp"}, "application/xml", lines((1, ADD)), 422),
        ({"dataset": "mbpp"}, "multipart/form-data", b"", 422),
        ({"dataset": "other"}, "application/json", b'{"dataset": "mbpp", "completions": [{}]}', 422),
        ({}, "application/json", b'{"dataset": "mbpp", "completions": []}', 422),
    ],
)
async def test_what_is_wrong_is_refused_and_leaves_nothing(
    client: httpx.AsyncClient, server: RunningServer, query: dict[str, str], kind: str, content: bytes, status: int
) -> None:
    folder = Path(server.platform.settings.batches_dir)
    before = set(folder.iterdir())
    answer = await client.post(AT, params=query, content=content, headers={"Content-Type": kind})
    assert (answer.status_code, set(folder.iterdir())) == (status, before), answer.text
    assert answer.json()["detail"]


@pytest.mark.parametrize("path", ["/nope", "/nope/events", "/nope/results", "/nope/summary", "/..%2f..%2fetc"])
async def test_a_batch_nobody_knows_is_not_found(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(AT + path)).status_code == 404


@pytest.mark.parametrize("text", ["0", "-1", "x", "1,,2", "1e3", "99999"])
async def test_a_k_that_is_none_is_refused(client: httpx.AsyncClient, text: str) -> None:
    batch = (await send(client, lines((1, ADD)))).json()["id"]
    assert (await client.get(f"{AT}/{batch}/summary", params={"pass_at": text})).status_code == 422


async def test_the_client_sends_follows_and_reads(server: RunningServer) -> None:
    async with SandboxClient(server.url) as client:
        batch = await client.create_batch("mbpp", [{"id": 1, "completion": ADD}, {"id": 2, "completion": "?"}])
        judged = [item async for item in client.batch_results(batch.id, follow=True)]
        done = await client.wait_batch(batch.id)
        summary = await client.batch_summary(batch.id, (1,))
        again = [item async for item in client.batch_results(batch.id)]
        await client.delete_batch(batch.id)
    assert sorted((item["id"], item["accepted"]) for item in judged) == [(1, True), (2, False)] and again == judged
    assert (done.status, done.accepted, summary.total.pass_at) == ("completed", 1, {1: 0.5})


async def test_a_restarted_server_goes_on_with_its_batches(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, batch_parallel=1)
    async with listening(settings, sessions=True) as first, httpx.AsyncClient(base_url=first.url) as client:
        batch = (await send(client, lines(*[(1, ADD)] * 40))).json()["id"]
        async with asyncio.timeout(WITHIN_S):
            while not (await client.get(f"{AT}/{batch}")).json()["judged"]:
                await asyncio.sleep(0.02)
    async with listening(settings, sessions=True) as second, httpx.AsyncClient(base_url=second.url) as client:
        done = await wait_until_ended(client, batch)
        judged = await results(client, batch)
    assert (done["status"], done["accepted"]) == ("completed", 40)
    assert sorted(item["index"] for item in judged) == list(range(40))


async def test_owners_see_their_own_batches_alone(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, require_keys=True, api_key="operator")
    async with listening(settings, sessions=True) as opened:
        keys = {owner: await new_key(opened.platform, owner) for owner in ("ann", "bob")}
        async with httpx.AsyncClient(base_url=opened.url) as client:
            sent = await send(client, lines((1, ADD)), **keys["ann"])
            batch = f"{AT}/{sent.json()['id']}"
            seen = {owner: (await client.get(batch, headers=key)).status_code for owner, key in keys.items()}
            refused = await client.post(f"{batch}/cancel", headers=keys["bob"])
            listed = await client.get(AT, headers=keys["bob"])
            anonymous = await client.get(batch)
    assert (seen, refused.status_code, listed.json()["total"], anonymous.status_code) == ({"ann": 200, "bob": 404}, 404, 0, 401)
