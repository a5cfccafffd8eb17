from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.api.servers import Client, serving

from sandbox_runtime.settings import Settings


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")),
        max_request_bytes=300_000,
        max_code_bytes=100_000,
        max_stdin_bytes=100_000,
        max_file_bytes=50_000,
        max_files=5,
        output_keep_bytes=20_000,
        timeout_ceiling=60,
        pod_name="pod-7",
        started_pool_size=0,
        check_languages=False,
        log_level="error",
    )
    async with serving(settings) as opened:
        yield opened
