"""The examples of the README and the guides about sessions, word for word, against a real server; only its address is another."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.commands import clean_environment

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parent.parent.parent
PAGES = ("README.md", "docs/guides/sessions.md", "docs/guides/sdk.md", "docs/guides/cli.md")
NOT_RUN = ("make ", "pip install")
"""What begins with these sets a machine up."""
EXAMPLES = [
    pytest.param(kind, text, id=f"{Path(page).stem}-{number}")
    for page in PAGES
    for number, (kind, text) in enumerate(re.findall(r"```(sh|python)\n(.*?)```", (ROOT / page).read_text(), re.DOTALL))
    if not text.startswith(NOT_RUN)
]


README = re.findall(r"```(sh|python)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


async def run(kind: str, text: str, url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / ".venv").symlink_to(Path(sys.prefix))
    here = text.replace("http://127.0.0.1:8080", url)
    argv = ["bash", "-euo", "pipefail", "-c", here] if kind == "sh" else [sys.executable, "-c", here]
    path = f"{Path(sys.prefix) / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    environment = clean_environment(SANDBOX_URL=url, SANDBOX_FUSION_ENDPOINT=url, PATH=path)
    return await asyncio.to_thread(subprocess.run, argv, cwd=folder, capture_output=True, text=True, timeout=100, env=environment)


@pytest.mark.requirement("sdk-2.07")
@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
async def test_an_example_works_word_for_word(sessions_url: str, tmp_path: Path, kind: str, text: str) -> None:
    done = await run(kind, text, sessions_url, tmp_path)
    assert done.returncode == 0, done.stderr
    assert not re.search(r'"status": ?"(Failed|SandboxError|failed)"|"error"', done.stdout), done.stdout


async def test_the_first_answer_of_the_readme_is_the_one_that_comes(sessions_url: str) -> None:
    request, shown = re.findall(r"```sh\n(curl .*?)```\n+```json\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    argv = ["bash", "-euo", "pipefail", "-c", request.replace("http://127.0.0.1:8080", sessions_url)]
    done = await asyncio.to_thread(subprocess.run, argv, capture_output=True, text=True, timeout=100)
    wanted, came = json.loads(shown), json.loads(done.stdout)
    for answer in (wanted["run_result"], came["run_result"]):
        assert answer.pop("execution_time") > 0
    assert wanted["run_result"].items() <= came.pop("run_result").items()
    assert {name: value for name, value in wanted.items() if name != "run_result"}.items() <= came.items()


@pytest.mark.parametrize(("marker", "printed"), [("import httpx", "stressed\n"), ("cat note.txt", "kept")])
async def test_what_the_readme_does_comes_to_what_it_says(sessions_url: str, tmp_path: Path, marker: str, printed: str) -> None:
    kind, text = next((kind, text) for kind, text in README if marker in text)
    done = await run(kind, text, sessions_url, tmp_path)
    assert done.returncode == 0 and printed in done.stdout, done.stderr


async def test_there_are_examples_on_every_page() -> None:
    assert {str(one.id).rsplit("-", 1)[0] for one in EXAMPLES} == {Path(page).stem for page in PAGES}
