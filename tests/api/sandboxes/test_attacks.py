"""Hostile requests: each gets an error in the usual shape, and the server keeps working."""

from __future__ import annotations

import pytest
from tests.api.sandboxes.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")
JSON = {"Content-Type": "application/json"}


@pytest.mark.requirement("sandboxes-6.10")
@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"name": "\\ud800"}',
        b'{"ttl": 1e400}',
        b'{"ttl": NaN}',
        b'{"resources": {"memory_limit": "99999999999999999T"}}',
        b'{"resources": {"cpu_limit": "inf"}}',
        b'{"resources": {"memory_limit": "1"}}',
        b'{"environment": {"A": "\\u0000"}}',
        b'{"template": "no-such"}',
        b'{"nmae": "x"}',
    ],
)
async def test_bodies_that_are_no_request_are_refused(ann: Api, body: bytes) -> None:
    await ann.request_error("POST", "/api/v1/sandboxes", 400, content=body, headers=JSON)


@pytest.mark.requirement("sandboxes-6.10")
async def test_notes_that_are_too_large_are_refused(ann: Api) -> None:
    await ann.request_error("POST", "/api/v1/sandboxes", 400, json={"metadata": {"a": "x" * 100_000}})
    sandbox = await ann.sandbox()
    await ann.request_error("PATCH", f"/api/v1/sandboxes/{sandbox}", 400, json={"metadata": {"a": "x" * 100_000}})


@pytest.mark.requirement("sandboxes-6.10")
async def test_an_owner_sees_and_touches_nothing_of_another(ann: Api, bob: Api) -> None:
    path = f"/api/v2/sandboxes/{await ann.sandbox(name='secret')}"
    await ann.request_json("PUT", f"{path}/files/secret.txt", content=b"secret")
    for method, rest, body in [
        ("GET", "", None),
        ("PATCH", "", {"name": "x"}),
        ("PUT", "", {"name": "x"}),
        ("DELETE", "", None),
        ("POST", "/start", None),
        ("POST", "/stop", None),
        ("POST", "/restart", None),
        ("GET", "/files", None),
        ("GET", "/files/secret.txt", None),
        ("PUT", "/files/secret.txt", {"content": "x"}),
        ("DELETE", "/files/secret.txt", None),
        ("POST", "/exec", {"command": "true"}),
        ("POST", "/code", {"code": "print(1)"}),
        ("GET", "/logs", None),
        ("GET", "/metrics", None),
    ]:
        error = await bob.request_error(method, path + rest, 404, **({} if body is None else {"json": body}))
        assert "secret" not in error["message"].replace("secret.txt", "")
    batch = {"action": "delete", "sandbox_ids": [path.rpartition("/")[2]]}
    assert (await bob.request_json("POST", "/api/v2/sandboxes:batch", json=batch))["results"][0]["error"]["code"] == 404
    assert all(item["name"] != "secret" for item in (await bob.request_json("GET", "/api/v1/sandboxes"))["data"])
    assert (await ann.request_json("GET", path))["status"] == "running"


@pytest.mark.requirement("sandboxes-6.10")
@pytest.mark.parametrize("name", ["..%2f..%2fetc", "%00", "a%0d%0aX-Evil: 1", "x" * 300, "%ff%fe", "' OR 1=1 --"])
async def test_ids_that_are_none_find_nothing(ann: Api, name: str) -> None:
    answer = await ann.get(f"/api/v1/sandboxes/{name}")
    assert answer.status_code in (400, 404) and "X-Evil" not in answer.headers


@pytest.mark.requirement("sandboxes-6.10")
async def test_without_a_key_nothing_is_told(ann: Api) -> None:
    answer = await ann.get("/api/v1/sandboxes", headers={"Authorization": "Bearer wrong"})
    assert answer.status_code == 401


async def test_a_name_for_a_request_that_is_no_plain_word_is_replaced(ann: Api) -> None:
    answer = await ann.get("/api/v1/sandboxes/none", headers={"X-Request-ID": "a b<script>"})
    assert "<" not in answer.headers["x-request-id"] and answer.json()["error"]["request_id"] == answer.headers["x-request-id"]
    answer = await ann.get("/api/v1/sandboxes/none", headers={"X-Request-ID": "mine-7"})
    assert answer.json()["error"]["request_id"] == "mine-7"
