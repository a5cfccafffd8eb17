"""Pages of other sites, whose scripts a browser would let talk to this machine."""

from __future__ import annotations

import pytest
from tests.api.servers import Client

pytestmark = pytest.mark.asyncio(loop_scope="module")

JOB = {"code": "print(1)", "language": "python"}


@pytest.mark.parametrize("origin", ["https://example.org", "null", "http://127.0.0.1.example.org", "garbage"])
async def test_a_page_of_another_site_cannot_use_a_server_without_a_key(client: Client, origin: str) -> None:
    answer = await client.post("/run_code", json=JOB, headers={"Origin": origin})
    assert answer.status_code == 403


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]"])
async def test_a_page_of_this_machine_can(client: Client, origin: str) -> None:
    assert (await client.post("/run_code", json=JOB, headers={"Origin": origin})).status_code == 200
