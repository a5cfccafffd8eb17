"""Checkers and interactors that are programs, each in a box of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.judge.trials import job, settings_in, trial

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.model import Blame, Check, Reason, Verdict

pytestmark = pytest.mark.asyncio(loop_scope="module")

IN_CPP = r"""
#include <fstream>
#include <iostream>
int main(int argc, char** argv) {
    std::ifstream in(argv[1]), out(argv[2]), answer(argv[3]);
    long square, root, known;
    in >> square;
    answer >> known;
    if (known * known != square) return 3;
    if (!(out >> root)) { std::cerr << "no number"; return 2; }
    std::cerr << "looked at " << root;
    return root * root == square ? 0 : 1;
}
"""
IN_PYTHON = """
import sys
square, root, known = (int(open(name).read()) for name in sys.argv[1:])
sys.exit(0 if root * root == square else 1)
"""
ROOTS = [(str(root * root), str(root)) for root in range(4)]
GUESSING = """
import sys
secret = int(open(sys.argv[1]).read())
for _ in range(12):
    line = sys.stdin.readline()
    if not line:
        sys.exit("the solution gave up")
    guess = int(line)
    print("=" if guess == secret else "<" if secret < guess else ">", flush=True)
    if guess == secret:
        sys.exit(0)
sys.exit("too many questions")
"""
BY_HALVES = """
low, high = 1, 1000
while True:
    middle = (low + high) // 2
    print(middle, flush=True)
    said = input()
    if said == "=":
        break
    low, high = (low, middle - 1) if said == "<" else (middle + 1, high)
"""
SECRETS = [(str(secret), "") for secret in (1, 500, 1000)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    async with open_platform(settings_in(tmp_path_factory.mktemp("judge"))) as opened:
        yield opened


async def checked(platform: Platform, solution: str, checker: str, language: str) -> Verdict:
    return await platform.judge.judge(trial(solution, *ROOTS, check=Check("program", job=job(checker, language))))


async def talked(platform: Platform, solution: str, interactor: str = GUESSING, wall_s: float = 20) -> Verdict:
    check = Check("interactive", job=job(interactor, wall_s=wall_s))
    return await platform.judge.judge(trial(solution, *SECRETS, check=check, wall_s=wall_s))


@pytest.mark.parametrize(("checker", "language"), [(IN_CPP, "cpp"), (IN_PYTHON, "python")])
async def test_any_right_answer_is_accepted(platform: Platform, checker: str, language: str) -> None:
    assert (await checked(platform, "print(-int(int(input()) ** 0.5))", checker, language)).accepted
    wrong = await checked(platform, "print(1)", checker, language)
    assert (wrong.reason, wrong.blame) == (Reason.wrong_answer, Blame.program)
    assert wrong.message == ("looked at 1" if language == "cpp" else "")


async def test_a_checker_can_find_fault_with_the_form(platform: Platform) -> None:
    verdict = await checked(platform, "print('root')", IN_CPP, "cpp")
    assert (verdict.reason, verdict.message) == (Reason.presentation, "no number")


async def test_a_program_that_fails_is_not_shown_to_the_checker(platform: Platform) -> None:
    assert (await checked(platform, "print(0); 1/0", IN_CPP, "cpp")).reason is Reason.runtime_error


async def test_the_solution_finds_neither_answer_nor_checker_in_its_box(platform: Platform) -> None:
    look = (
        "import os\nfound = [files for top in ('.', '/tmp') for _, _, files in os.walk(top)]\nassert 'answer' not in str(found)"
    )
    assert (await checked(platform, f"{look}\nprint(-int(int(input()) ** 0.5))", IN_PYTHON, "python")).accepted


@pytest.mark.parametrize(
    ("checker", "language"),
    [
        ("import sys; sys.exit(3)", "python"),
        ("int main() { __builtin_trap(); }", "cpp"),
        ("int main( {", "cpp"),
        ("no Python", "python"),
    ],
)
async def test_a_checker_that_fails_judges_nobody(platform: Platform, checker: str, language: str) -> None:
    verdict = await checked(platform, "print(int(int(input()) ** 0.5))", checker, language)
    assert (verdict.accepted, verdict.reason, verdict.blame) == (False, Reason.not_judged, Blame.caller)
    assert verdict.message


async def test_a_solution_talks_with_its_interactor(platform: Platform) -> None:
    verdict = await talked(platform, BY_HALVES)
    assert verdict.accepted and len(verdict.cases) == len(SECRETS)


@pytest.mark.parametrize(
    ("solution", "reason"),
    [
        ("for guess in range(2000, 3000):\n    print(guess, flush=True)\n    input()", Reason.wrong_answer),
        ("pass", Reason.wrong_answer),
        ("print('seven')", Reason.wrong_answer),
        ("1/0", Reason.runtime_error),
        ("while True: print(2000)", Reason.wrong_answer),
    ],
)
async def test_what_went_wrong_in_a_talk(platform: Platform, solution: str, reason: Reason) -> None:
    verdict = await talked(platform, solution)
    assert (verdict.accepted, verdict.reason, verdict.blame) == (False, reason, Blame.program)


async def test_two_that_wait_for_each_other_are_ended_by_the_solutions_limit(platform: Platform) -> None:
    verdict = await talked(platform, "input()", wall_s=2)
    assert (verdict.reason, verdict.blame) == (Reason.time_limit, Blame.limit)


@pytest.mark.parametrize("interactor", ["import os; os.abort()", "import sys; sys.exit(3)", "no Python"])
async def test_an_interactor_that_fails_judges_nobody(platform: Platform, interactor: str) -> None:
    verdict = await talked(platform, BY_HALVES, interactor)
    assert (verdict.accepted, verdict.reason, verdict.blame) == (False, Reason.not_judged, Blame.caller)
