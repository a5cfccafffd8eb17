from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.engine.faulty import FaultyBackend

from sandbox_runtime.assembly import Platform, open_configured_backend, open_platform
from sandbox_runtime.settings import Settings


@pytest.fixture(params=["none", "namespaces"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    return Settings(
        isolation=request.param,
        state_dir=str(tmp_path / "state"),
        max_code_bytes=1000,
        max_stdin_bytes=1000,
        max_file_bytes=1000,
        log_level="error",
    )


@pytest.fixture
def backend(settings: Settings) -> FaultyBackend:
    return FaultyBackend(open_configured_backend(settings))


@pytest.fixture
async def platform(settings: Settings, backend: FaultyBackend) -> AsyncIterator[Platform]:
    """Nothing is opened ahead, so that tests can say which box meets which fate."""
    async with open_platform(settings, backend_context=backend, prewarm=False) as opened:
        yield opened
