"""GET /languages, and requests for languages that do not work here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.api.servers import Client, serving
from tests.languages.language_file import GOOD

from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

LACKING = (
    GOOD.replace('name = "awk"', 'name = "oak"')
    .replace("gawk", "oaken")
    .replace('extensions = ["awk"]', "")
    .replace('argv = ["awk"', 'argv = ["no-such-program"')
    .replace("[check]", '[install]\napt = ["oak-tools"]\n\n[check]')
)
NOWHERE = (
    LACKING.replace('name = "oak"', 'name = "ash"')
    .replace("oaken", "ashen")
    .replace('apt = ["oak-tools"]', 'unavailable = "extinct"')
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    rows = tmp_path_factory.mktemp("rows")
    (rows / "oak.toml").write_text(LACKING)
    (rows / "ash.toml").write_text(NOWHERE)
    state_dir = str(tmp_path_factory.mktemp("state"))
    async with serving(Settings(state_dir=state_dir, languages_dir=str(rows), log_level="error")) as opened:
        yield opened


async def entries(client: Client) -> dict[str, dict[str, object]]:
    """Wait until every check has ended."""
    while True:
        answer = await client.get("/languages")
        assert answer.status_code == 200
        if not any(entry["pending"] for entry in answer.json()):
            return {entry["name"]: entry for entry in answer.json()}
        await asyncio.sleep(0.1)


async def test_every_language_of_the_catalog_is_listed(client: Client) -> None:
    listed = await entries(client)
    assert set(listed) == {language.name for language in client.platform.catalog}
    bash = listed["bash"]
    assert (bash["title"], bash["aliases"], bash["group"], bash["compiled"]) == ("Bash", ["sh", "shell"], "major", False)
    assert (bash["enabled"], bash["reason"]) == (True, "") and "GNU bash" in str(bash["version"])


async def test_a_language_that_does_not_work_is_listed_with_the_reason(client: Client) -> None:
    listed = await entries(client)
    assert not listed["oak"]["enabled"] and "no-such-program" in str(listed["oak"]["reason"])
    assert not listed["ash"]["enabled"] and listed["ash"]["reason"] == "extinct"


async def test_a_run_in_a_language_that_is_not_installed_says_how_to_get_it(client: Client) -> None:
    answer = await client.run_code("x", language="oak")
    assert (answer["status"], answer["run_result"], answer["compile_result"]) == ("SandboxError", None, None)
    assert "It needs awk" in answer["message"] and "`sandbox languages install oak`" in answer["message"]


async def test_a_run_in_a_language_that_cannot_be_had_says_why(client: Client) -> None:
    answer = await client.run_code("x", language="ash")
    assert answer["status"] == "SandboxError" and "extinct" in answer["message"] and "install ash" not in answer["message"]
