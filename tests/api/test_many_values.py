"""Bodies with very many JSON values are rejected before they are parsed; long texts are not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.api.servers import Client, serving

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.batches.jsonl import read_line
from sandbox_runtime.model.bounds import JSON_VALUES, count_json_values
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANY = b'{"code": "true", "language": "bash", "more": [' + b"[]," * 300_000 + b"1]}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")), pool_size=0, check_languages=False, log_level="error")
    async with serving(settings) as opened:
        yield opened


@pytest.mark.parametrize(
    "path", ["/run_code", "/submit", "/run_jupyter", "/api/v1/sessions", "/api/v2/sandboxes", "/workspace/se/run"]
)
@pytest.mark.parametrize("kind", ["application/json", "application/vnd.api+json"])
async def test_too_many_values_are_413_with_the_bound_and_the_setting(client: Client, path: str, kind: str) -> None:
    answer = await client.post(path, content=MANY, headers={"Content-Type": kind})
    assert answer.status_code in (404, 413)
    if answer.status_code == 413:
        assert "at most 200,000 are allowed" in answer.text and "max_request_values" in answer.text


async def test_a_long_program_with_many_commas_runs(client: Client) -> None:
    answer = await client.run_code("echo ok; # " + 'a,b:"[{' * 150_000, "bash")
    assert answer["run_result"]["stdout"] == "ok\n"


async def test_a_line_of_a_batch_is_bounded_as_well() -> None:
    with pytest.raises(InvalidRequest, match="line 3 holds about"):
        read_line(b'{"id": 1, "completion": "", "config": [' + b"1," * JSON_VALUES + b"1]}", 2)
    assert read_line(b'{"id": 1, "completion": "' + b"," * JSON_VALUES + b'"}', 2).id == 1


@pytest.mark.parametrize(
    ("text", "least"),
    [
        (b"[" + b"1," * 500 + b"1]", 500),
        (b'{"a":"' + b"," * 500 + b'"}', 2),
        (b'["' + b'\\",' * 500 + b'"]', 1),
        (b'["' + b"," * 600_000 + b'",1,1]', 3),
        (b'["' + b"\\" * 600_000 + b'",1,1]', 3),
        (b'["' + b'\\",' * 300_000 + b'",1,1]', 3),
        (b"[" + b'"a",' * 300_000 + b"1]", 300_000),
    ],
)
async def test_values_are_counted_without_what_stands_in_strings(text: bytes, least: int) -> None:
    assert least <= count_json_values(text, 10) <= least + 2
