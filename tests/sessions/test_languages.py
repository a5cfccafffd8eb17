"""Languages work in a session and leave no files there.

The tests of languages run every language; here a few of every kind are enough. `make test-languages` runs them all.
"""

from __future__ import annotations

import pytest
from tests.languages.chosen import skip_unless_chosen

from sandbox_runtime.assembly import Platform
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.languages import load_catalog
from sandbox_runtime.model import ExecutionState, Resources
from sandbox_runtime.model.limits import GIB
from sandbox_runtime.sessions import ExecutionSpec, SessionSpec

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]
LANGUAGES = [language for language in load_catalog("") if not language.gpu and not language.install.unavailable]
DEFAULT_LANGUAGES = "python pytest bash cpp nodejs typescript go java R php sql"
LARGE = Resources(memory_bytes=2 * GIB, disk_bytes=GIB, processes=512, cpu_cores=2)
PROGRAM_FILES = {".Random.seed", "jest-report.json", ".pytest_cache", "__pycache__"}
"""Files that some programs write themselves."""


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
async def test_the_check_of_a_language_passes_in_a_session(platform: Platform, language: object) -> None:
    skip_unless_chosen(language.name, DEFAULT_LANGUAGES)  # type: ignore[attr-defined]
    sessions, row = platform.sessions, platform.catalog.find(language.name)  # type: ignore[attr-defined]
    try:
        await platform.engine.optional_link_flags(row)
    except Unavailable as reason:
        pytest.skip(str(reason))
    session = await sessions.create(SessionSpec(resources=LARGE))
    files = await sessions.files.open(session.id)
    for file in row.check.files:
        await files.write(file.name, file.content, mode=0o755 if file.executable else 0o644)
    before = {entry.name for entry in (await files.list()).entries}
    done = await sessions.executions.run(
        session.id, ExecutionSpec(code=row.check.code, language=row.name, stdin=row.check.stdin, timeout_s=100)
    )
    assert done.state is ExecutionState.completed, (done.error, done.stderr[-500:])
    assert row.check.stdout in done.stdout if row.check.contains else row.check.stdout == done.stdout
    assert {entry.name for entry in (await files.list()).entries} - before <= PROGRAM_FILES
    await sessions.delete(session.id)
