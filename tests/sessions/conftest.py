from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.settings import Settings

PlatformFactory = Callable[..., AbstractAsyncContextManager[Platform]]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions")


@pytest.fixture
def open_server(tmp_path: Path) -> PlatformFactory:
    """Opens platforms one after another on the same folder, like a server that is restarted."""
    return lambda **changes: platform_in(tmp_path, **changes)


@asynccontextmanager
async def platform_in(folder: Path, **changes: object) -> AsyncIterator[Platform]:
    skip_where_the_host_lacks("namespaces")
    settings = Settings(state_dir=str(folder / "state"), log_level="error", check_languages=False, pool_size=0, node_name="here")
    async with open_platform(dataclasses.replace(settings, **changes), sessions=True) as platform:  # type: ignore[arg-type]
        yield platform


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def platform(folder: Path) -> AsyncIterator[Platform]:
    async with platform_in(folder) as opened:
        yield opened


@pytest.fixture
def sessions(platform: Platform) -> Sessions:
    return platform.sessions
