"""The examples of the README and the guides about sessions, word for word, against a real server; only its address is another."""

from __future__ import annotations

import asyncio
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


@pytest.mark.requirement("sdk-2.07")
@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
async def test_an_example_works_word_for_word(sessions_url: str, tmp_path: Path, kind: str, text: str) -> None:
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    here = text.replace("http://127.0.0.1:8080", sessions_url)
    argv = ["bash", "-euo", "pipefail", "-c", here] if kind == "sh" else [sys.executable, "-c", here]
    path = f"{Path(sys.prefix) / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    environment = clean_environment(SANDBOX_URL=sessions_url, SANDBOX_FUSION_ENDPOINT=sessions_url, PATH=path)
    done = await asyncio.to_thread(
        subprocess.run, argv, cwd=tmp_path, capture_output=True, text=True, timeout=100, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert not re.search(r'"status": ?"(Failed|SandboxError|failed)"|"error"', done.stdout), done.stdout


async def test_there_are_examples_on_every_page() -> None:
    assert {str(one.id).rsplit("-", 1)[0] for one in EXAMPLES} == {Path(page).stem for page in PAGES}
