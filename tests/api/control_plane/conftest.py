from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.api.control_plane.clients import ControlPlaneClient, in_process_client

from sandbox_runtime.settings import Settings

INTERNAL_TOKEN = "internal-token"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ControlPlaneClient]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")),
        node_name="node-1",
        internal_api_token=INTERNAL_TOKEN,
        session_file_max_bytes=20 * 1024 * 1024,
        check_languages=False,
        log_level="error",
    )
    async with in_process_client(settings) as opened:
        yield opened
