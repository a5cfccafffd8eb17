"""Completions judged while the platform is sabotaged: is any of them scored for what was not its fault?"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox_runtime.assembly import Platform, build_loop_options, open_platform
from sandbox_runtime.benchmarks import registry
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.judge.judge_loop import Loop
from sandbox_runtime.judge.rows import Rows
from sandbox_runtime.judge.text_workers import TextWorkers
from sandbox_runtime.model import Options, Reason
from sandbox_runtime.perf.bench_environment import BenchEnvironment
from sandbox_runtime.perf.bench_plan import TITLES
from sandbox_runtime.perf.fault_injection import Saboteur, UnavailableRows
from sandbox_runtime.perf.fault_results import FaultResults
from sandbox_runtime.settings import Settings
from sandbox_runtime.telemetry import JudgeMetrics, Metrics

STDIO, TESTED = "code_contests", "mbpp"
_TOGETHER = 8
_MORE = 24
"""Now and then so many more come at once than there is room for."""
_DISK = "size=96m"
_WITHIN_S = 30.0
_DOUBLE = [{"input": {"stdin": str(number)}, "output": {"stdout": str(2 * number)}} for number in range(4)]
_ROWS = {
    STDIO: {"id": 1, "content": "Double the number.", "labels": {}, "test": _DOUBLE},
    TESTED: {
        "id": 1,
        "content": "Write double(n).",
        "labels": {},
        "test_list": ["assert double(2) == 4", "assert double(-1) == -2"],
    },
}
_CPP = "#include <iostream>\nint main() { long n; std::cin >> n; std::cout << %s << std::endl; }\n// %d"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A completion, and what is true of it."""

    dataset: str
    language: str
    completion: str
    reason: Reason


async def judge_faults(environment: BenchEnvironment) -> None:
    environment.progress.begin(TITLES["judge-faults"], 1)
    environment.report.judge_faults = found = await sabotaged(environment.settings, environment.effort.sabotaged_runs)
    environment.progress.step()
    if found.wrong:
        environment.report.failed["judge-faults"] = (
            f"{found.wrong} completions were scored for faults of ours: {found.examples[0]}"
        )


async def sabotaged(settings: Settings, completions: int, seed: int = 0) -> FaultResults:
    """settings: those of a platform of its own. As root its state lies on a small disk that is filled now and then."""
    found = FaultResults()
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(_small_disk())
        rows = UnavailableRows(_tables(folder))
        platform = await stack.enter_async_context(open_platform(_narrow(settings, folder)))
        await platform.engine.languages(["python", "cpp"])
        saboteur = Saboteur(rows, folder if os.path.ismount(folder) else None, seed)
        async with saboteur.at_work():
            await _judge_all(_judge_of(platform, rows), list(_attempts(completions)), found)
    found.done = saboteur.done
    return found


def _narrow(settings: Settings, folder: Path) -> Settings:
    """With room for fewer than will come."""
    state = str(folder / "state")
    return dataclasses.replace(settings, state_dir=state, log_level="error", max_concurrency=_TOGETHER, queue_size=2 * _TOGETHER)


def _judge_of(platform: Platform, rows: UnavailableRows) -> Judge:
    """As the platform's own, but with rows that can be kept away."""
    metrics = JudgeMetrics(Metrics(), frozenset((STDIO, TESTED)))
    loop = Loop(platform.engine, platform.request_limits, build_loop_options(platform.settings, warm=True), metrics, platform.log)
    return Judge(loop, registry.datasets(), registry.benchmark_classes(), Rows([rows]), registry.table_of, TextWorkers())


async def _judge_all(judge: Judge, attempts: Sequence[Attempt], found: FaultResults) -> None:
    places = asyncio.Semaphore(_TOGETHER + _MORE)

    async def one(attempt: Attempt) -> None:
        async with places:
            await _judge_one(judge, attempt, found)

    async with asyncio.TaskGroup() as group:
        for attempt in attempts:
            group.create_task(one(attempt))


async def _judge_one(judge: Judge, attempt: Attempt, found: FaultResults) -> None:
    options = Options(attempt.dataset, language=attempt.language)
    try:
        verdict = await judge.submit(attempt.dataset, 1, attempt.completion, options)
    except SandboxError:
        found.refused += 1
        return
    if verdict.reason is Reason.not_judged:
        found.not_judged += 1
        found.why[verdict.message] += 1
        return
    found.judged += 1
    if verdict.reason is not attempt.reason:
        found.wrong += 1
        found.examples.append(f"{attempt.reason} was told as {verdict.reason} ({verdict.message}): {attempt.completion[:200]!r}")


def _attempts(count: int) -> Iterator[Attempt]:
    """Each a little different from every other, so that none is answered from a cache."""
    kinds = (
        (TESTED, "python", "def double(n):\n    return 2 * n\n# {}", Reason.accepted),
        (TESTED, "python", "def double(n):\n    return n\n# {}", Reason.wrong_answer),
        (STDIO, "python", "print(2 * int(input()))\n# {}", Reason.accepted),
        (STDIO, "python", "print(3 * int(input()))\n# {}", Reason.wrong_answer),
        (STDIO, "cpp", _CPP % ("2 * n", 0) + "{}", Reason.accepted),
        (STDIO, "cpp", _CPP % ("3 * n", 0) + "{}", Reason.wrong_answer),
        (STDIO, "cpp", _CPP % ("m", 0) + "{}", Reason.compile_error),
        (STDIO, "bash", "read n\nsleep 0.05\necho $((2 * n))\n# {}", Reason.accepted),
    )
    for number in range(count):
        dataset, language, text, reason = kinds[number % len(kinds)]
        code = text.replace("{}", str(number)) if language == "cpp" else text.format(number)
        yield Attempt(dataset, language, f"```{language}\n{code}\n```", reason)


def _tables(folder: Path) -> Path:
    tables = folder / "tables"
    tables.mkdir()
    for name, row in _ROWS.items():
        (tables / f"code_eval_{name}.jsonl").write_text(json.dumps(row) + "\n")
    return tables


@contextmanager
def _small_disk() -> Iterator[Path]:
    """Where we may not mount one, a plain folder."""
    with TemporaryDirectory(prefix="sandbox-bench-") as name:
        os.chmod(name, 0o755)
        mounted = os.geteuid() == 0 and _call("mount", "-t", "tmpfs", "-o", _DISK, "tmpfs", name)
        try:
            yield Path(name)
        finally:
            if mounted:
                _call("umount", "--lazy", name)


def _call(*argv: str) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, timeout=_WITHIN_S, check=False).returncode == 0
    except OSError:
        return False
