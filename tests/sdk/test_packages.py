"""Packages into a session, from an index on this host."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.sdk.served import serving_sessions
from tests.sessions.package_index import index, own_address, wheel

from sandbox_runtime.errors import Conflict, InvalidRequest, SandboxError
from sandbox_runtime.sdk import Dependency, Sandbox
from sandbox_runtime.settings import Settings

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.network]
WHEELS = {"smallthing-1.5-py3-none-any.whl": wheel("smallthing", "1.5", "NAME = 'small'\n")}
USES = "import smallthing\nprint(smallthing.NAME)"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def online(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    address = own_address()
    if address is None or os.geteuid() != 0 or shutil.which("nft") is None:
        pytest.skip("boxes with a network need root, nft and an address of this host here")
    with index(address, WHEELS) as packages:
        settings = Settings(
            state_dir=str(tmp_path_factory.mktemp("state")), pool_size=0, check_languages=False, log_level="error",
            allow_network=True, network_allow=(address,), session_package_index=packages,
        )  # fmt: skip
        async with serving_sessions(settings) as url:
            yield url


@pytest.mark.requirement("sdk-1.13")
async def test_packages_are_installed_into_a_session(online: str) -> None:
    async with Sandbox(base_url=online) as box:
        session = await box.install("smallthing")
        assert [(one.name, one.version) for one in session.installed_dependencies] == [("smallthing", "1.5")]
        assert (await box.run(USES)).stdout == "small\n"


@pytest.mark.requirement("sdk-1.13")
async def test_a_session_is_there_when_its_packages_are(online: str) -> None:
    async with Sandbox(base_url=online, dependencies=[Dependency(name="smallthing", version="1.5")]) as box:
        assert box.info.status == "running" and (await box.run(USES)).stdout == "small\n"


async def test_packages_that_do_not_exist_are_told(online: str) -> None:
    with pytest.raises(Conflict, match="no-such-thing"):
        async with Sandbox(base_url=online, dependencies=[{"name": "no-such-thing"}]):
            pass
    async with Sandbox(base_url=online) as box:
        with pytest.raises(SandboxError, match="no-such-thing"):
            await box.install("no-such-thing")
        with pytest.raises(InvalidRequest):
            await box.install("../../etc")
