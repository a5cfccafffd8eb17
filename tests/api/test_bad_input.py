"""Invalid requests get a clear error, and the server keeps running."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.api.servers import Client, b64

pytestmark = pytest.mark.asyncio(loop_scope="module")


def body(**fields: Any) -> dict[str, Any]:
    return {"code": "print(1)", "language": "python", **fields}


@pytest.mark.requirement("fusion-1.10", "fusion-3.02", "fusion-4.05")
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"run_timeout": 0}, "greater than 0"),
        ({"run_timeout": -1}, "greater than 0"),
        ({"compile_timeout": -0.5}, "greater than 0"),
        ({"run_timeout": 1e9}, "run_timeout must be at most 60"),
        ({"compile_timeout": 61}, "compile_timeout must be at most 60"),
        ({"run_timeout": 1e-9}, "wall_s must be between"),
        ({"run_timeout": "soon"}, "valid number"),
        ({"run_timeout": None}, "valid number"),
        ({"memory_limit_MB": 1}, "memory_bytes must be between"),
        ({"memory_limit_MB": 10**6}, "memory_limit_MB must be at most"),
        ({"memory_limit_MB": 10**30}, "less than or equal"),
        ({"memory_limit_MB": 1.5}, "valid integer"),
        ({"language": "js"}, "Input should be"),
        ({"language": "ts"}, "Input should be"),
        ({"language": "klingon"}, "Input should be"),
        ({"language": ""}, "Input should be"),
        ({"language": None}, "Input should be"),
        ({"code": None}, "valid string"),
        ({"code": 42}, "valid string"),
        ({"code": "x" * 100_001}, "100001 bytes; at most 100000"),
        ({"stdin": "x" * 100_001}, "100001 bytes; at most 100000"),
        ({"stdin": 7}, "valid string"),
        ({"files": {"a": "@@@"}}, "'a' is not base64"),
        ({"files": {"a": "QUJ"}}, "not base64"),
        ({"files": {"a": "ü"}}, "not base64"),
        ({"files": {"a": b64(b"x" * 50_001)}}, "50001 bytes; at most 50000"),
        ({"files": {str(n): "" for n in range(6)}}, "6 files are more than the 5"),
        ({"files": {"../a": ""}}, "must not hold"),
        ({"files": {"a/../../b": ""}}, "must not hold"),
        ({"files": {"/etc/passwd": ""}}, "outside the folders"),
        ({"files": {"": ""}}, "must not be empty"),
        ({"files": {"a\0b": ""}}, "NUL"),
        ({"files": {"a/": ""}}, "names a folder"),
        ({"files": {"a" * 300: ""}}, "255 bytes"),
        ({"files": {"a" * 5000: ""}}, "4096 bytes"),
        ({"files": {"a": "", "a/b": ""}}, "not a folder"),
        ({"files": []}, "Input should be an object"),
        ({"fetch_files": ["../x"]}, "must not hold"),
        ({"fetch_files": ["/etc/shadow"]}, "outside the folders"),
        ({"fetch_files": [""]}, "must not be empty"),
        ({"fetch_files": [str(n) for n in range(9)]}, "9 files to fetch"),
        ({"fetch_files": "x"}, "valid array"),
    ],
)
async def test_what_is_out_of_bounds_is_refused_with_the_reason(client: Client, fields: dict[str, Any], reason: str) -> None:
    answer = await client.post("/run_code", json=body(**fields))
    assert answer.status_code == 422
    assert reason in json.dumps(answer.json(), ensure_ascii=False)


@pytest.mark.requirement("fusion-1.10", "fusion-2.02")
@pytest.mark.parametrize("missing", ["code", "language"])
async def test_what_is_missing_is_named(client: Client, missing: str) -> None:
    sent = {name: value for name, value in body().items() if name != missing}
    answer = await client.post("/run_code", json=sent)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", missing]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe\x00",
        b'{"code": "\xff", "language": "python"}',
        b'{"code": "\\ud800", "language": "python"}',
        b'{"code": "x", "language": "python", "run_timeout": NaN}',
        b'{"code": "x", "language": "python", "run_timeout": Infinity}',
        b'{"code": "x", "language": "python", "run_timeout": 1e999}',
        b'{"code": "x", "language": "python", "memory_limit_MB": 1e400}',
        b"[" * 100_000,
    ],
)
async def test_a_body_that_is_no_request_is_refused(client: Client, raw: bytes) -> None:
    answer = await client.post("/run_code", content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422 and answer.json()["detail"]
    assert "Traceback" not in answer.text


async def test_a_refusal_does_not_repeat_the_input(client: Client) -> None:
    answer = await client.post("/run_code", json=body(language="secret-language", code="secret-code", stdin=["secret-input"]))
    assert answer.status_code == 422 and "secret-" not in answer.text


async def test_a_body_whose_length_is_over_the_bound_is_refused_unread(client: Client) -> None:
    read: list[int] = []

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(400):
            read.append(1000)
            yield b"x" * 1000

    answer = await client.post("/run_code", content=pieces(), headers={"Content-Length": "400000"})
    assert answer.status_code == 413 and "300000 bytes" in answer.json()["detail"]
    assert not read


async def test_a_body_without_a_length_is_refused_once_it_is_over_the_bound(client: Client) -> None:
    read: list[int] = []

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100_000):
            read.append(1000)
            yield b"x" * 1000

    answer = await client.post("/run_code", content=pieces())
    assert answer.status_code == 413
    assert sum(read) < 320_000


async def test_a_body_without_a_length_within_the_bound_is_served(client: Client) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for byte in json.dumps(body()).encode():
            yield bytes([byte])

    assert (await client.post("/run_code", content=pieces())).json()["status"] == "Success"


@pytest.mark.parametrize("length", ["-1", "1e3", "99999999999999999999999", "x"])
async def test_a_length_that_is_no_number_is_refused(client: Client, length: str) -> None:
    answer = await client.post("/run_code", content=b"", headers={"Content-Length": length})
    assert answer.status_code in (400, 413)


async def test_nul_bytes_in_code_and_input_reach_the_program(client: Client) -> None:
    answer = await client.run_code("cat", "bash", stdin="a\0b")
    assert answer["run_result"]["stdout"] == "a\0b"
    refused = await client.run_code("print('\0')")
    assert refused["status"] == "Failed" and "SyntaxError" in refused["run_result"]["stderr"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_other_methods_are_refused(client: Client, method: str) -> None:
    assert (await client.request(method, "/run_code")).status_code == 405


async def test_the_server_goes_on(client: Client) -> None:
    assert (await client.run_code("print(1)"))["status"] == "Success"
    assert client.platform.pool.in_use == 0
