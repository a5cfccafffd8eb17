"""A program of a language that compiles behaves the same whether it was compiled for this run or found in the build cache."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.languages import load_catalog
from sandbox_runtime.model import Job
from sandbox_runtime.settings import Settings

COMPILED = ["c", "cpp", "go", "java", "rust", "D_ut", "scala", "verilog", "fortran", "ocaml"]
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    skip_where_the_host_lacks("namespaces")
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")), log_level="error", check_languages=False)
    async with open_platform(settings, prewarm=False) as opened:
        yield opened


@pytest.mark.parametrize("name", COMPILED)
async def test_a_kept_build_runs_as_a_fresh_one_does(platform: Platform, name: str) -> None:
    language = load_catalog().find(name)
    assert language.compile is not None and language.compile.cache_build
    check, limits = language.check, platform.request_limits.for_checks()
    job = Job(name, check.code, check.stdin.encode(), check.files, compile_limits=limits, run_limits=limits)
    try:
        first, again = [await platform.engine.run(job) for _ in range(2)]
    except Unavailable as error:
        pytest.skip(str(error))
    assert first.compile is not None and again.compile is not None and first.run is not None and again.run is not None
    assert (first.compile.cached, again.compile.cached) == (False, True)
    assert again.compile.stderr == first.compile.stderr
    assert (again.run.exit_code, bytes(again.run.stdout), bytes(again.run.stderr)) == (0, check.stdout.encode(), b"")
