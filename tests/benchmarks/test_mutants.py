"""Wrong solutions that look almost right. What fails when it is run by hand must never be accepted.

With SANDBOX_TEST_DATA_DIR the solutions are those of published datasets; SANDBOX_TEST_MUTANTS says how many mutants are tried.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import os
from asyncio.subprocess import DEVNULL
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.judge_runs import options, published, trial
from tests.benchmarks.mutation import mutants

from sandbox_runtime.benchmarks.humaneval import HUMANEVAL
from sandbox_runtime.benchmarks.mbpp import MBPP
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Trial

pytestmark = pytest.mark.asyncio(loop_scope="session")

COUNT_VARIABLE, USUAL_COUNT = "SANDBOX_TEST_MUTANTS", 20
OF_EACH_ROW = 4
AT_ONCE = 3

OWN: dict[str, Any] = {
    "task_id": "Own/0",
    "prompt": "def grade(points, most=100):\n",
    "entry_point": "grade",
    "canonical_solution": (
        "    share = points * 10 // most\n"
        "    if share >= 9 or points == most - 1:\n        return 1\n"
        "    return 2 if share > 5 and points % 2 == 0 else 3\n"
    ),
    "test": (
        "def check(candidate):\n"
        "    told = [candidate(points) for points in (0, 59, 60, 61, 89, 90, 99, 100)]\n"
        "    assert told == [3, 3, 2, 3, 3, 1, 1, 1]\n"
        "    assert [candidate(points, 10) for points in (5, 6, 8, 9, 10)] == [3, 2, 2, 1, 1]\n"
        "    assert candidate(199, 200) == 1 and candidate(179, 200) == 3 and candidate(3, 4) == 1\n"
    ),
}
# Many mutants run for ever.
BRIEFLY = dataclasses.replace(options(is_freeform=True), run_timeout_s=5.0)


async def by_hand(made: Trial, guest_python: str, folder: Path) -> bool:
    """Whether the whole program, run without any judge, ends well in its time."""
    path = folder / "program.py"
    path.write_text(made.job.code)
    process = await asyncio.create_subprocess_exec(
        guest_python, "-I", str(path), stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, cwd=folder
    )
    try:
        return await asyncio.wait_for(process.wait(), made.job.run_limits.wall_s) == 0
    except TimeoutError:
        process.kill()
        await process.wait()
        return False


async def accepted_wrongly(judge: Judge, trials: list[Trial], guest_python: str, folder: Path) -> list[str]:
    """The programs that were accepted although they fail by hand."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, made: Trial) -> str:
        async with turns:
            if not (await judge.judge(made)).accepted:
                return ""
            own = folder / str(number)
            own.mkdir()
            return "" if await by_hand(made, guest_python, own) else made.job.code

    found = await asyncio.gather(*(one(number, made) for number, made in enumerate(trials)))
    return [code for code in found if code]


def of_humaneval(row: dict[str, Any]) -> Iterator[Trial]:
    """Mutants of the body: the prompt is not the model's."""
    whole = row["prompt"] + row["canonical_solution"]
    for code in mutants(whole):
        yield trial(HUMANEVAL, {**row, "prompt": ""}, f"```python\n{code}\n```", BRIEFLY)


def of_mbpp(row: dict[str, Any]) -> Iterator[Trial]:
    for code in mutants(row["code"]):
        yield trial(MBPP, row, f"```python\n{code}\n```", BRIEFLY)


async def test_mutants_of_a_right_solution_are_rejected(judge: Judge, guest_python: str, tmp_path: Path) -> None:
    tried = list(of_humaneval(OWN))
    assert len(tried) >= 15
    assert await accepted_wrongly(judge, tried, guest_python, tmp_path) == []
    verdicts = [await judge.judge(made) for made in tried]
    assert sum(found.accepted for found in verdicts) <= 2, "almost none of these is right by chance"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "made"), [("humaneval/HumanEval.jsonl.gz", of_humaneval), ("mbpp/mbpp.jsonl.gz", of_mbpp)])
async def test_mutants_of_published_solutions_are_rejected(
    judge: Judge, guest_python: str, tmp_path: Path, name: str, made: Any
) -> None:
    count = int(os.environ.get(COUNT_VARIABLE, USUAL_COUNT))
    rows = published(name)
    of_each = itertools.chain.from_iterable(itertools.islice(made(row), OF_EACH_ROW) for row in rows)
    tried = list(itertools.islice(of_each, count))
    assert len(tried) == count
    assert await accepted_wrongly(judge, tried, guest_python, tmp_path) == []
