"""The section about judged completions: what a judge takes, and what the same programs take by hand.

Problems in Python: the reference solutions of the dataset humaneval_python, as far as this deployment has rows of it (the samples
that come with the package, over and over, where it has no others), judged in process; against the same programs, tests and all,
run one after another by a plain interpreter on each core. A problem with many cases: a C++ program that no cache knows yet,
against compiling and running it once for each case.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.model import Case, Check, Completion, Job, Limits, Options, Trial
from sandbox_runtime.perf.baselines import ENVIRONMENT
from sandbox_runtime.perf.bench_environment import BenchEnvironment
from sandbox_runtime.perf.bench_plan import TITLES
from sandbox_runtime.perf.rounds import Contender, interleave

DATASET = "humaneval_python"
CASES = 50
_TOGETHER = 8
_WITHIN_S = 600.0
_LIMITS = Limits(wall_s=60.0, memory_bytes=None)
_SOURCE = """#include <bits/stdc++.h>
// {number}
int main() {{
    long long n, sum = 0;
    std::cin >> n;
    std::vector<long long> values(n);
    for (auto& value : values) std::cin >> value;
    std::sort(values.begin(), values.end());
    for (auto value : values) sum += value;
    std::cout << values.front() << ' ' << values.back() << ' ' << sum << std::endl;
}}
"""


async def judging(environment: BenchEnvironment) -> None:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sandbox-bench-")))
        platform = await stack.enter_async_context(open_platform(environment.settings))
        stage = _Stage(environment, platform, folder, await _problems(platform, environment.effort.judge_problems))
        contenders = [
            Contender("judge_python", f"{len(stage.problems)} Python problems judged", stage.judge_python, stage.calm),
            Contender("judge_shared", "the same, tests in the process of the solution", stage.judge_shared, stage.calm),
            Contender("python_by_hand", "the same, python main.py on each core", stage.python_by_hand, stage.calm),
            Contender("judge_cases", f"C++, {CASES} cases judged", stage.judge_cases, stage.calm),
            Contender("cases_by_hand", f"the same, g++ and ./main {CASES} times", stage.cases_by_hand, stage.calm),
        ]
        await stage.warm_up()
        environment.progress.begin(TITLES["judge"], environment.effort.judge_rounds)
        environment.report.add(await interleave(contenders, environment.effort.judge_rounds, 0, environment.progress.step))


async def _problems(platform: Platform, count: int) -> list[Trial]:
    judge, options = platform.judge, Options(DATASET)
    benchmark = judge.dataset(DATASET).benchmark
    assert benchmark.reference is not None
    found = []
    async for row in judge.rows(judge.dataset(DATASET)):
        found += [benchmark.trial(row, Completion(text), row_options) for text, row_options in benchmark.reference(row, options)]
    if not found:
        raise Unavailable(f"the dataset {DATASET} has no rows here with a reference solution")
    return list(itertools.islice(itertools.cycle(found), count))


@dataclass(frozen=True, slots=True)
class _Stage:
    environment: BenchEnvironment
    platform: Platform
    folder: Path
    problems: Sequence[Trial]
    numbers: Iterator[int] = field(default_factory=itertools.count)

    async def warm_up(self) -> None:
        """The first trial of a language starts what stays up."""
        await self._judged(self.problems[:1])
        await self._judged([self._cases()])

    async def judge_python(self) -> float:
        return await self._judged(self.problems)

    async def judge_shared(self) -> float:
        guards = [dataclasses.replace(problem.guard, shared=True) for problem in self.problems]
        problems = [dataclasses.replace(one, guard=guard) for one, guard in zip(self.problems, guards, strict=True)]
        return await self._judged(problems)

    async def judge_cases(self) -> float:
        return await self._judged([self._cases()])

    async def python_by_hand(self) -> float:
        paths = [self.folder / f"{number}.py" for number in range(len(self.problems))]
        for path, problem in zip(paths, self.problems, strict=True):
            path.write_text(problem.job.code)
        begun, left = time.perf_counter(), iter(paths)

        async def one_core() -> None:
            for path in left:
                await _run(self.environment.guest.python, str(path))

        await asyncio.gather(*(one_core() for _ in range(self.environment.cores)))
        return time.perf_counter() - begun

    async def cases_by_hand(self) -> float:
        """Some of them, where there is little time, and what all would take."""
        compiler = shutil.which("g++", path=ENVIRONMENT["PATH"])
        if compiler is None:
            raise Unavailable("g++ is not on this machine: sandbox languages install cpp")
        trial, source, program = self._cases(), self.folder / "main.cpp", str(self.folder / "main")
        source.write_text(trial.job.code)
        cases = trial.cases[: self.environment.effort.cases_by_hand]
        begun = time.perf_counter()
        for case in cases:
            await _run(compiler, "-std=c++17", str(source), "-o", program)
            await _run(program, stdin=case.stdin or b"")
        return (time.perf_counter() - begun) * CASES / len(cases)

    async def calm(self) -> None:
        async with asyncio.timeout(_WITHIN_S):
            while self.platform.pool.in_use:
                await asyncio.sleep(0.005)

    async def _judged(self, trials: Sequence[Trial]) -> float:
        begun, left = time.perf_counter(), iter(trials)

        async def worker() -> None:
            for trial in left:
                verdict = await self.platform.judge.judge(trial)
                if not verdict.accepted:
                    raise PlatformFault(f"a reference solution was not accepted: {verdict.reason} {verdict.message}")

        await asyncio.gather(*(worker() for _ in range(_TOGETHER)))
        return time.perf_counter() - begun

    def _cases(self) -> Trial:
        """With a source that was never compiled before."""
        job = Job("cpp", _SOURCE.format(number=next(self.numbers)), compile_limits=_LIMITS, run_limits=_LIMITS)
        return Trial(job, tuple(map(_case, range(CASES))), Check("lines"))


def _case(number: int) -> Case:
    values = [(number * 7919 + place * 104_729) % 1_000_003 for place in range(1000)]
    stdin = f"{len(values)}\n{' '.join(map(str, values))}\n"
    return Case(stdin.encode(), f"{min(values)} {max(values)} {sum(values)}\n")


async def _run(*argv: str, stdin: bytes = b"") -> None:
    process = await asyncio.create_subprocess_exec(
        *argv, env=ENVIRONMENT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(_WITHIN_S):
            _, stderr = await process.communicate(stdin)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise PlatformFault(f"{argv[0]} failed by hand: {stderr.decode(errors='replace')[-200:]}")
