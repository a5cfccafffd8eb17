"""Every language of the catalog that works on this host, in the namespaces backend with isolation fully on.

The programs lie in programs/<language>/: syntax_error, runtime_error, endless, big_output (5 MB) and files (copies input.txt to
output.txt); the one that echoes is the language's own check. SANDBOX_TESTED_LANGUAGES names the languages to test, "all" for
every one; without it those that `make test` installs.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.engine import Proof
from sandbox_runtime.languages import Language, assets_folder, load_catalog
from sandbox_runtime.model import Ending, File, Job, JobResult, Outcome
from sandbox_runtime.settings import Settings
from sandbox_runtime.toolchains.stamps import stands

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROGRAMS = Path(__file__).parent / "programs"
ALL = "all"
USUAL = (
    "python pytest bash cpp c nodejs typescript jest go go_test java junit rust php perl ruby lua R sql verilog D_ut scala "
    "kotlin_script csharp racket"
)
WITHIN_S = 100.0
ENDLESS_S = 2.0
TEXT = "Grüße, 漢字, עברית, 🎉 and plain words\n" * 40
SIZE_BYTES = 5_000_000
CATALOG = {language.name: language for language in load_catalog()}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def platform(guest_python: str, state_dir: str) -> AsyncIterator[Platform]:
    skip_where_the_host_lacks("namespaces")
    settings = Settings(guest_python=guest_python, state_dir=state_dir, log_level="error", build_cache_bytes=0)
    async with open_platform(settings, ahead=False) as opened:
        yield opened


@pytest.fixture(scope="session")
def proofs() -> dict[str, Proof]:
    return {}


@pytest_asyncio.fixture(loop_scope="session", params=sorted(CATALOG))
async def language(request: pytest.FixtureRequest, platform: Platform, proofs: dict[str, Proof]) -> Language:
    """Each language that was asked for and works here."""
    name: str = request.param
    asked = (os.environ.get("SANDBOX_TESTED_LANGUAGES") or USUAL).replace(",", " ").split()
    if name not in asked and ALL not in asked:
        pytest.skip(f"{name} is tested by `make test-languages`")
    if name not in proofs:
        (proofs[name],) = await platform.engine.languages([name], fresh=True)
    proof = proofs[name]
    if not proof.enabled:
        installed = stands(Path(platform.settings.toolchains_dir), CATALOG[name], assets_folder(CATALOG[name]))
        assert not installed, f"{name} is installed but does not work: {proof.reason}"
        pytest.skip(f"{name} does not work here: {proof.reason}")
    return CATALOG[name]


async def run(
    platform: Platform, language: Language, code: str, stdin: str = "", files: tuple[File, ...] = (), *, wall_s: float = WITHIN_S
) -> JobResult:
    limits = platform.allowance.default.replace(wall_s=WITHIN_S, memory_bytes=platform.allowance.most_memory_bytes)
    fetch = ("output.txt",) if files else ()
    job = Job(language.name, code, stdin.encode(), files, fetch, limits, limits.replace(wall_s=wall_s))
    result = await platform.engine.run(job)
    for outcome in (result.compile, result.run):
        assert outcome is None or outcome.isolation == "namespaces"
    return result


def program(language: Language, name: str) -> str:
    (path,) = (PROGRAMS / language.name).glob(f"{name}.*")
    return path.read_text(encoding="utf-8")


def told(result: JobResult) -> str:
    ended = result.run or result.compile
    assert ended is not None
    return f"{ended.ending} {ended.exit_code} {ended.message}\n{ended.stdout.text[-2000:]}\n{ended.stderr.text[-2000:]}"


def ran(result: JobResult) -> Outcome:
    assert result.run is not None, told(result)
    return result.run


async def test_unicode_on_stdin_comes_back(platform: Platform, language: Language) -> None:
    check = language.check
    if check.contains or check.stdin != check.stdout:
        pytest.skip(f"{language.name} programs do not print their input alone; the language's check has shown what they print")
    result = await run(platform, language, check.code, TEXT, check.files)
    assert ran(result).ok, told(result)
    assert ran(result).stdout.text == TEXT


async def test_a_syntax_error_is_told(platform: Platform, language: Language) -> None:
    result = await run(platform, language, program(language, "syntax_error"))
    ended = result.compile if language.compile else result.run
    assert ended is not None and not ended.ok
    assert ended.ending is Ending.exited and bytes(ended.stdout) + bytes(ended.stderr), told(result)
    assert (result.run is None) == bool(language.compile), told(result)


async def test_a_runtime_error_is_no_success(platform: Platform, language: Language) -> None:
    result = await run(platform, language, program(language, "runtime_error"))
    assert result.compile is None or result.compile.ok, told(result)
    assert ran(result).ending in (Ending.exited, Ending.signaled) and not ran(result).ok, told(result)


async def test_an_endless_program_is_stopped_at_its_time(platform: Platform, language: Language) -> None:
    result = await run(platform, language, program(language, "endless"), wall_s=ENDLESS_S)
    assert ran(result).ending is Ending.timed_out, told(result)


async def test_five_megabytes_of_output_come_out_whole(platform: Platform, language: Language) -> None:
    outcome = ran(result := await run(platform, language, program(language, "big_output")))
    assert outcome.ending is Ending.exited, told(result)
    assert outcome.stdout.total_bytes + outcome.stderr.total_bytes >= SIZE_BYTES, told(result)
    assert outcome.stdout.dropped_bytes == outcome.stderr.dropped_bytes == 0


async def test_files_go_in_and_come_out(platform: Platform, language: Language) -> None:
    result = await run(platform, language, program(language, "files"), files=(File("input.txt", TEXT.encode()),))
    assert ran(result).ok, told(result)
    assert [(file.name, file.content.decode()) for file in result.files] == [("output.txt", TEXT)]
