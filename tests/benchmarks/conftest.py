"""One platform for all tests of benchmarks: what a benchmark declares is judged in real boxes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from sandbox_runtime.assembly import open_platform
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.settings import Settings


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def judge(state_dir: str, guest_python: str) -> AsyncIterator[Judge]:
    settings = Settings(state_dir=state_dir, guest_python=guest_python, check_languages=False, log_level="error")
    async with open_platform(settings) as platform:
        yield platform.judge
