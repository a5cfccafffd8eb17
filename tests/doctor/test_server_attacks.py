"""Every attack on a server, against a server of each backend that isolates."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.doctor.servers import LIMITS, attacked_server

from sandbox_runtime.doctor import Attack, Server, State, attack_server, load_corpus
from sandbox_runtime.settings import Settings

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.attack]

CLIENTS = [one for one in load_corpus() if one.scenario == "client"]


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["namespaces", pytest.param("bubblewrap", marks=pytest.mark.slow)]
)
async def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    skip_where_the_host_lacks(request.param)
    known = {name: value for name, value in LIMITS.items() if hasattr(Settings(), name)}
    async with attacked_server(tmp_path_factory.mktemp("attacked"), request.param, known) as open_named_backend:
        yield open_named_backend


@pytest.mark.parametrize("one", CLIENTS, ids=lambda one: one.name)
async def test_the_server_holds(one: Attack, server: Server) -> None:
    (verdict,) = await attack_server(server, [one])
    if verdict.state is State.not_applicable:
        pytest.skip(verdict.reason)
    assert verdict.state is State.held, verdict.reason
