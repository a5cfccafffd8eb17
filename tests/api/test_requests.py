"""Health, ping, metrics, and the status codes of errors."""

from __future__ import annotations

import pytest
from tests.api.servers import Client

from sandbox_runtime.api.errors import STATUS_CODES, error_response
from sandbox_runtime.errors import SandboxError, TooMany

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.requirement("fusion-1.03")
async def test_ping_says_pong(client: Client) -> None:
    assert (await client.get("/v1/ping")).json() == "pong"


async def test_health_tells_the_backend_and_its_layers(client: Client) -> None:
    answer = await client.get("/health")
    body = answer.json()
    assert (answer.status_code, body["status"], body["isolation"]) == (200, "healthy", "namespaces")
    assert {"layer", "state", "detail", "fix"} <= set(body["layers"][0])
    assert body["version"]


async def test_metrics_count_what_ran(client: Client) -> None:
    await client.run_code("print(1)")
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    for name in ("runs_total{", "run_wall_seconds_bucket", "queue_wait_seconds_count", "pool_idle", "pool_busy", "queue_length"):
        assert f"sandbox_{name}" in answer.text


async def test_the_front_page_leads_on(client: Client) -> None:
    answer = await client.get("/")
    assert answer.status_code == 200 and "sandbox-runtime" in answer.text


@pytest.mark.requirement("fusion-1.09", "fusion-3.01")
async def test_the_interface_describes_itself(client: Client) -> None:
    described = (await client.get("/openapi.json")).json()
    schema = described["paths"]["/run_code"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    named = schema["properties"]["language"]["enum"]
    assert named[:3] == ["python", "cpp", "nodejs"] and named[28] == "racket"
    assert {language.name for language in client.platform.catalog} <= set(named) and len(named) == len(set(named))
    assert schema["required"] == ["code", "language"]


async def test_an_unknown_path_is_not_found(client: Client) -> None:
    assert (await client.get("/nothing")).status_code == 404


async def test_every_error_class_has_a_status() -> None:
    """Return the classes of errors.py and their subclasses."""
    assert {SandboxError, *_below(SandboxError)} == set(STATUS_CODES)


def _below(kind: type[SandboxError]) -> list[type[SandboxError]]:
    of_the_tree = [below for below in kind.__subclasses__() if below.__module__ == SandboxError.__module__]
    return [found for below in of_the_tree for found in (below, *_below(below))]


async def test_too_many_tells_when_to_come_back() -> None:
    body = error_response(TooMany("later", 2.2))
    assert (body.status_code, body.headers["retry-after"]) == (503, "3")
