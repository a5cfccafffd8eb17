"""Programs that are compiled: every turn another one, and by hand what one would type."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.languages import load_catalog
from sandbox_runtime.perf.compiles import _ByHand
from sandbox_runtime.perf.hello_programs import HELLOS, Hello
from sandbox_runtime.perf.targets import TARGETS

SHELL = Hello("bash", "main.sh", "echo 45; exit\n", (("bash", "-n", "{folder}/main.sh"), ("bash", "{folder}/main.sh")))


def by_hand(hello: Hello, folder: Path, toolchains: str = "/nowhere") -> _ByHand:
    return _ByHand(hello, folder, toolchains, itertools.count())


async def test_the_commands_by_hand_are_run_in_order_on_a_new_program_each_time(tmp_path: Path) -> None:
    steps = by_hand(SHELL, tmp_path)
    assert await steps.once() > 0
    first = (tmp_path / "main.sh").read_text()
    await steps.once()
    assert (tmp_path / "main.sh").read_text() != first


async def test_a_program_that_prints_something_else_is_no_baseline(tmp_path: Path) -> None:
    wrong = Hello("bash", "main.sh", "echo 46; exit\n", SHELL.by_hand)
    with pytest.raises(PlatformFault, match="46"):
        await by_hand(wrong, tmp_path).once()


def test_a_tool_that_is_not_there_is_told_with_what_brings_it(tmp_path: Path) -> None:
    missing = Hello("go", "main.go", "", (("{toolchains}/go/bin/go", "build"),))
    with pytest.raises(Unavailable, match="sandbox languages install go"):
        by_hand(missing, tmp_path)


@pytest.mark.parametrize("hello", HELLOS, ids=lambda hello: str(hello.language))
def test_every_program_is_of_a_language_of_the_catalog_and_has_its_goal(hello: Hello) -> None:
    assert load_catalog().find(hello.language).name == hello.language
    assert hello.program(1).code != hello.program(2).code
    assert any(goal.ours == f"{hello.language}_first" and goal.baseline == f"{hello.language}_by_hand" for goal in TARGETS)
