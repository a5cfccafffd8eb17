"""Programs that try to grade themselves, and honest ones that do similar things: each a folder with what must come out."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.model import Job, Limits, Reason, Verdict
from sandbox_runtime.model.judge import Guard, GuardKind, Trial
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE = Path(__file__).parent
LIMITS = Limits(wall_s=60, memory_bytes=None)
NOTHING = "none"
"""The trick comes to nothing, and there is nothing to tell of."""
UNSEEN = "unseen"
"""In the process of its tests the trick would be accepted: only a process of their own keeps it out."""


@dataclass(frozen=True)
class Program:
    folder: Path

    def trial(self, *, shared: bool = False) -> Trial:
        language = self.language
        if language in ("python", "pytest"):
            solution, tests = self._text("solution.py"), self._text("tests.py")
            job = Job(language, f"{solution}\n{tests}", run_limits=LIMITS, compile_limits=LIMITS)
            return Trial(job, guard=Guard(GuardKind(language), solution, tests, shared=shared))
        (path,) = self.folder.glob("program.*")
        run_limits = LIMITS.replace(wall_s=self.expected.get("wall_s", LIMITS.wall_s))
        job = Job(language, path.read_text(), run_limits=run_limits, compile_limits=LIMITS)
        return Trial(job, guard=Guard(GuardKind.ending))

    @property
    def language(self) -> str:
        return str(self.expected["language"])

    @property
    def words(self) -> set[str]:
        """What is told of the trick where it runs in the process of its tests."""
        return {word for word in self.expected["tamper"] if word not in (NOTHING, UNSEEN)}  # type: ignore[attr-defined]

    @property
    def is_right(self) -> bool:
        """Whether its answers are right: out of reach of the tests, what it does beside that changes nothing."""
        return bool(self.expected.get("right"))

    @property
    def is_seen(self) -> bool:
        return UNSEEN not in self.expected["tamper"]  # type: ignore[operator]

    @property
    def expected(self) -> dict[str, object]:
        return tomllib.loads(self._text("expected.toml"))

    def _text(self, name: str) -> str:
        return (self.folder / name).read_text()


def programs(kind: str, *languages: str, seen: bool = False) -> list[object]:
    found = [Program(folder) for folder in sorted((HERE / kind).iterdir())]
    kept = [one for one in found if (not languages or one.language in languages) and (not seen or one.is_seen)]
    return [pytest.param(one, id=one.folder.name) for one in kept]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(guest_python: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    state = str(tmp_path_factory.mktemp("state"))
    settings = Settings(guest_python=guest_python, state_dir=state, log_level="error")
    async with open_platform(settings, prewarm=False) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cold(guest_python: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    """Its interpreters are given the harness with each program."""
    state = str(tmp_path_factory.mktemp("state"))
    settings = Settings(guest_python=guest_python, state_dir=state, log_level="error", judge_warm=False)
    async with open_platform(settings, prewarm=False) as opened:
        yield opened


async def judged(platform: Platform, program: Program, *, shared: bool = False) -> Verdict:
    verdict = await platform.judge.judge(program.trial(shared=shared))
    if verdict.reason is Reason.not_judged and "needs" in verdict.message:
        pytest.skip(verdict.message)
    return verdict


@pytest.mark.parametrize("program", programs("tricks"))
async def test_a_trick_scores_nothing(platform: Platform, program: Program) -> None:
    verdict = await judged(platform, program)
    assert not verdict.accepted or program.is_right
    if program.language in ("python", "pytest"):
        assert verdict.extra["guard"] == "split"
    else:
        assert program.words <= set(verdict.tamper), verdict
        assert not program.words or verdict.reason is Reason.tampered


@pytest.mark.slow
@pytest.mark.parametrize("program", programs("tricks", "python", "pytest", seen=True))
async def test_a_trick_in_the_process_of_its_tests_is_seen(platform: Platform, program: Program) -> None:
    verdict = await judged(platform, program, shared=True)
    assert not verdict.accepted and verdict.extra["guard"] == "shared"
    assert program.words <= set(verdict.tamper), verdict
    assert not program.words or verdict.reason is Reason.tampered


@pytest.mark.parametrize("program", programs("honest"))
async def test_an_honest_program_is_accepted(platform: Platform, program: Program) -> None:
    verdict = await judged(platform, program)
    assert verdict.accepted, verdict
    assert verdict.tamper == ()


@pytest.mark.slow
@pytest.mark.parametrize("program", programs("honest", "python", "pytest"))
async def test_an_honest_program_is_accepted_in_the_process_of_its_tests(platform: Platform, program: Program) -> None:
    verdict = await judged(platform, program, shared=True)
    assert verdict.accepted, verdict
    assert verdict.tamper == ()


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "split"])
@pytest.mark.parametrize("name", ["exit_at_load", "callers_frame", "equals_everything", "new_code_in_old_function"])
async def test_a_trick_scores_nothing_where_no_interpreter_is_warm(cold: Platform, name: str, shared: bool) -> None:
    program = Program(HERE / "tricks" / f"python_{name}")
    verdict = await judged(cold, program, shared=shared)
    assert not verdict.accepted
    assert not shared or program.words <= set(verdict.tamper)


@pytest.mark.parametrize("name", ["python_dataclass", "python_looks_at_itself", "pytest_test_class"])
async def test_an_honest_program_is_accepted_where_no_interpreter_is_warm(cold: Platform, name: str) -> None:
    verdict = await judged(cold, Program(HERE / "honest" / name))
    assert verdict.accepted, verdict


async def test_a_failed_test_is_shown_with_its_line_and_nothing_of_ours(platform: Platform) -> None:
    job = Job("python", "", run_limits=LIMITS, compile_limits=LIMITS)
    guard = Guard(GuardKind.python, "def half(x):\n    return x\n", "\nassert half(4) == 2, 'halves'\n")
    verdict = await platform.judge.judge(Trial(job, guard=guard))
    run = verdict.cases[0].run
    assert verdict.reason is Reason.wrong_answer and verdict.tamper == () and run is not None
    assert verdict.message == "assert half(4) == 2, 'halves': AssertionError: halves"
    assert "line 2, in <module>\n    assert half(4) == 2, 'halves'\n" in run.stderr.text
    assert "harness" not in run.stderr.text and "frame_stack.py" not in run.stderr.text
