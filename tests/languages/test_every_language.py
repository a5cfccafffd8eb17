"""Every language of the catalog that works on this host, in the namespaces backend with isolation fully on.

The programs lie in programs/<language>/: syntax_error, runtime_error, endless, big_output (5 MB) and files (copies input.txt to
output.txt), each a source or, for a language whose programs are projects, a folder; the one that echoes is the language's own
check.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_asyncio
from tests.languages.chosen import skip_unless_chosen
from tests.languages.conftest import Run, Working
from tests.languages.outcomes import ran, told

from sandbox_runtime.languages import Language, load_catalog
from sandbox_runtime.model import Ending, File

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROGRAMS = Path(__file__).parent / "programs"
ENDLESS_S = 0.4
TEXT = "Grüße, 漢字, עברית, 🎉 and plain words\n" * 40
SIZE_BYTES = 5_000_000


@pytest_asyncio.fixture(loop_scope="session", params=sorted(language.name for language in load_catalog()))
async def language(request: pytest.FixtureRequest, working: Working) -> Language:
    """Each language that was asked for and works here."""
    skip_unless_chosen(request.param)
    return await working(request.param)


def program(language: Language, name: str) -> tuple[str, tuple[File, ...]]:
    """The code, and the files where the program is a project."""
    folder = PROGRAMS / language.name / name
    if folder.is_dir():
        return "", tuple(File(path.name, path.read_bytes()) for path in sorted(folder.iterdir()))
    (path,) = folder.parent.glob(f"{name}.*")
    return path.read_text(encoding="utf-8"), ()


async def test_unicode_on_stdin_comes_back(language: Language, run: Run) -> None:
    check = language.check
    if check.contains or check.stdin != check.stdout:
        pytest.skip(f"{language.name} programs do not print their input alone; the language's check has shown what they print")
    result = await run(language, check.code, TEXT, *check.files)
    assert ran(result).ok, told(result)
    assert ran(result).stdout.text == TEXT


async def test_a_syntax_error_is_told(language: Language, run: Run) -> None:
    code, files = program(language, "syntax_error")
    result = await run(language, code, "", *files)
    ended = result.compile if language.compile else result.run
    assert ended is not None and not ended.ok
    assert ended.ending is Ending.exited and bytes(ended.stdout) + bytes(ended.stderr), told(result)
    assert (result.run is None) == bool(language.compile), told(result)


async def test_a_runtime_error_is_no_success(language: Language, run: Run) -> None:
    code, files = program(language, "runtime_error")
    result = await run(language, code, "", *files)
    assert result.compile is None or result.compile.ok, told(result)
    assert ran(result).ending in (Ending.exited, Ending.signaled) and not ran(result).ok, told(result)


async def test_an_endless_program_is_stopped_at_its_time(language: Language, run: Run) -> None:
    code, files = program(language, "endless")
    result = await run(language, code, "", *files, wall_s=ENDLESS_S)
    assert ran(result).ending is Ending.timed_out, told(result)


async def test_five_megabytes_of_output_come_out_whole(language: Language, run: Run) -> None:
    code, files = program(language, "big_output")
    outcome = ran(result := await run(language, code, "", *files))
    assert outcome.ending is Ending.exited, told(result)
    assert outcome.stdout.total_bytes + outcome.stderr.total_bytes >= SIZE_BYTES, told(result)
    assert outcome.stdout.dropped_bytes == outcome.stderr.dropped_bytes == 0


async def test_files_go_in_and_come_out(language: Language, run: Run) -> None:
    code, files = program(language, "files")
    result = await run(language, code, "", *files, File("input.txt", TEXT.encode()), fetch=("output.txt",))
    assert ran(result).ok, told(result)
    assert [(file.name, file.content.decode()) for file in result.files] == [("output.txt", TEXT)]
