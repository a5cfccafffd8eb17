"""What the home of a program begins with."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.isolation.box_helpers import run, shell

from sandbox_runtime.isolation.guest_interpreter import inspect_interpreter
from sandbox_runtime.isolation.port import Backend

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def fonts(guest_python: str) -> Iterator[Path]:
    found = list(Path(guest_python).parent.parent.glob("share/sandbox-home/.cache/matplotlib/*.json"))
    if not found:
        pytest.skip("the guest interpreter brings nothing for homes: make setup")
    yield found[0]


async def test_links_of_the_interpreter_stand_in_a_folder_that_is_the_programs_own(backend: Backend, fonts: Path) -> None:
    if backend.name == "none":
        pytest.skip("without isolation a program's home is empty")
    script = f"cd ~/.cache/matplotlib && cmp {fonts.name} {shlex.quote(str(fonts))} && touch mine && rm {fonts.name} && ls"
    outcome = await run(backend, shell(script))
    assert outcome.stdout.text == "mine\n", outcome.stderr.text
    assert fonts.exists()


async def test_they_are_found_by_looking_at_the_interpreter(guest_python: str, fonts: Path) -> None:
    assert (f".cache/matplotlib/{fonts.name}", str(fonts)) in inspect_interpreter(guest_python).home
