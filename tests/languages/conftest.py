"""One platform for all tests that run programs of languages, in the namespaces backend with isolation fully on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.engine import LanguageStatus
from sandbox_runtime.languages import Language, assets_folder
from sandbox_runtime.model import File, Job, JobResult
from sandbox_runtime.settings import Settings
from sandbox_runtime.toolchains.stamps import is_installed

WITHIN_S = 100.0

Working = Callable[[str], Awaitable[Language]]
Run = Callable[..., Awaitable[JobResult]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def platform(guest_python: str, state_dir: str) -> AsyncIterator[Platform]:
    skip_where_the_host_lacks("namespaces")
    settings = Settings(guest_python=guest_python, state_dir=state_dir, log_level="error", build_cache_bytes=0)
    async with open_platform(settings, prewarm=False) as opened:
        yield opened


@pytest.fixture(scope="session")
def working(platform: Platform) -> Working:
    """The language of a name, once its check has been run; skips where it does not work here and was not installed."""
    proofs: dict[str, LanguageStatus] = {}

    async def find(name: str) -> Language:
        language = platform.catalog.find(name)
        if name not in proofs:
            (proofs[name],) = await platform.engine.languages([name], fresh=True)
        if proofs[name].enabled:
            return language
        installed = is_installed(Path(platform.settings.toolchains_dir), language, assets_folder(language))
        assert not installed, f"{name} is installed but does not work: {proofs[name].reason}"
        pytest.skip(f"{name} does not work here: {proofs[name].reason}")

    return find


@pytest.fixture(scope="session")
def run(platform: Platform) -> Run:
    async def perform(
        language: Language,
        code: str,
        stdin: str = "",
        *files: File,
        fetch: tuple[str, ...] = (),
        wall_s: float = WITHIN_S,
    ) -> JobResult:
        limits = platform.request_limits.default.replace(wall_s=WITHIN_S, memory_bytes=platform.request_limits.max_memory_bytes)
        job = Job(language.name, code, stdin.encode(), files, fetch, limits, limits.replace(wall_s=wall_s))
        result = await platform.engine.run(job)
        for outcome in (result.compile, result.run):
            assert outcome is None or outcome.isolation == "namespaces"
        return result

    return perform
