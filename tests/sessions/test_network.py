"""The network of a session, for everything that runs in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.sessions.conftest import platform_in
from tests.sessions.package_index import index, own_address, wheel

from sandbox_runtime.errors import Conflict, InvalidRequest, Unavailable
from sandbox_runtime.model import Dependency, ExecutionKind, SessionMode
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.network]
WHEELS = {"tinything-1.0-py3-none-any.whl": wheel("tinything", "1.0", "VERSION = '1.0'\n")}
REACH = """
import socket
try:
    socket.create_connection(({!r}, {}), 10).close()
    print("reached")
except OSError:
    print("unreachable")
"""


class Online:
    def __init__(self, sessions: Sessions, url: str) -> None:
        host, port = url.removeprefix("http://").split("/")[0].rsplit(":", 1)
        self.sessions = sessions
        self.code = REACH.format(host, port)

    async def reaches(self, session: str) -> set[str]:
        """Return the output of each kind of execution."""
        context = await self.sessions.contexts.open(session)
        specs = (
            ExecutionSpec(code=self.code),
            ExecutionSpec(kind=ExecutionKind.cell, context=context.id, code=self.code),
            ExecutionSpec(kind=ExecutionKind.command, code="python -", stdin=self.code),
            ExecutionSpec(kind=ExecutionKind.handler, code=f"{self.code}\ndef handler(event): return 1"),
        )
        return {(await self.sessions.executions.run(session, spec)).stdout.strip() for spec in specs}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def online(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Online]:
    address = own_address()
    if address is None or os.geteuid() != 0 or shutil.which("nft") is None:
        pytest.skip("boxes with a network need root, nft and an address of this host here")
    with index(address, WHEELS) as url:
        facts = {"allow_network": True, "network_allow": (address,), "session_package_index": url}
        async with platform_in(tmp_path_factory.mktemp("online"), **facts) as platform:
            yield Online(platform.sessions, url)


@pytest.mark.parametrize(
    ("asked", "given", "said"), [("", "nat", "reached"), ("nat", "nat", "reached"), ("none", "none", "unreachable")]
)
async def test_everything_in_a_session_has_the_network_that_it_was_made_with(
    online: Online, asked: str, given: str, said: str
) -> None:
    made = await online.sessions.create(SessionSpec(network=asked))
    assert made.network == given
    assert await online.reaches(made.id) == {said}
    await online.sessions.delete(made.id)


async def test_a_copy_has_the_network_of_the_original(online: Online) -> None:
    made = await online.sessions.create(SessionSpec(network="none"))
    (copy,) = await online.sessions.fork(made.id)
    assert copy.network == "none"
    assert (await online.sessions.executions.run(copy.id, ExecutionSpec(code=online.code))).stdout == "unreachable\n"
    for session in (made, copy):
        await online.sessions.delete(session.id)


async def test_packages_need_a_session_with_a_network(online: Online) -> None:
    made = await online.sessions.create(SessionSpec(network="none"))
    with pytest.raises(Conflict, match="created without a network"):
        await online.sessions.install(made.id, [Dependency("tinything")])
    with pytest.raises(InvalidRequest, match="set network to nat"):
        SessionSpec(network="none", dependencies=(Dependency("tinything"),))
    await online.sessions.delete(made.id)


async def test_an_agent_is_not_given_a_session_with_another_network(online: Online) -> None:
    spec = SessionSpec(agent="wired", mode=SessionMode.persistent, network="nat")
    wired = await online.sessions.create(spec)
    assert (await online.sessions.create(spec)).id == wired.id
    apart = await online.sessions.create(SessionSpec(agent="wired", mode=SessionMode.persistent, network="none"))
    assert apart.id != wired.id and apart.network == "none"
    for session in (wired, apart):
        await online.sessions.delete(session.id)


async def test_a_server_without_a_network_refuses_to_give_one(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with platform_in(tmp_path_factory.mktemp("offline")) as platform:
        with pytest.raises(Unavailable, match="set allow_network"):
            await platform.sessions.create(SessionSpec(network="nat"))
        assert (await platform.sessions.create(SessionSpec())).network == "none"


async def test_other_networks_do_not_exist() -> None:
    with pytest.raises(InvalidRequest, match="none or nat, not 'host'"):
        SessionSpec(network="host")
