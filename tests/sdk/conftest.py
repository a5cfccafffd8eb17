from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.sdk.served import serving_sessions

from sandbox_runtime.settings import Settings


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sessions_url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """Of a server that holds sessions and wants no key."""
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")), pool_size=0, check_languages=False, log_level="error", node_name="here"
    )
    async with serving_sessions(settings) as url:
        yield url
