"""Faults of ours, brought about on purpose: they are tried again, at last told as such, and never scored."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.engine.faulty import FaultyBackend
from tests.judge.trials import settings_in, trial

from sandbox_runtime.assembly import Platform, build_loop_options, open_configured_backend, open_platform
from sandbox_runtime.benchmarks import registry
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.judge.judge_loop import Loop
from sandbox_runtime.judge.rows import Rows
from sandbox_runtime.judge.text_workers import TextWorkers
from sandbox_runtime.model import Blame, Options, Reason, Trial
from sandbox_runtime.perf.fault_injection import UnavailableRows
from sandbox_runtime.perf.judge_faults import sabotaged
from sandbox_runtime.settings import Settings
from sandbox_runtime.telemetry import JudgeMetrics, Metrics

RIGHT = trial("print(2 * int(input()))", ("1", "2"), ("2", "4"), ("3", "6"))
ROW = {"id": 7, "content": "double", "labels": {}, "test": [{"input": {"stdin": "1"}, "output": {"stdout": "2"}}]}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    skip_where_the_host_lacks("namespaces")
    return dataclasses.replace(settings_in(tmp_path), judge_retry_first_s=0.02)


@pytest.fixture
def backend(settings: Settings) -> FaultyBackend:
    return FaultyBackend(open_configured_backend(settings))


@pytest.fixture
async def platform(settings: Settings, backend: FaultyBackend) -> AsyncIterator[Platform]:
    async with open_platform(settings, backend_context=backend, prewarm=False) as opened:
        await opened.engine.languages(["python"])
        yield opened


def retries(platform: Platform) -> float:
    lines = platform.metrics.exposition().decode().splitlines()
    return sum(float(line.split()[1]) for line in lines if line.startswith("sandbox_judge_retries_total"))


async def until(true: Any) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.005)


async def test_where_no_box_can_be_opened_nobody_is_judged(platform: Platform, backend: FaultyBackend) -> None:
    backend.failing = True
    verdict = await platform.judge.judge(RIGHT)
    assert (verdict.accepted, verdict.reason, verdict.blame) == (False, Reason.not_judged, Blame.platform)
    assert "no boxes today" in verdict.message
    assert 'sandbox_verdicts_total{dataset="other",reason="not_judged"} 1.0' in platform.metrics.exposition().decode()


async def test_attempts_are_made_in_one_layer_only(platform: Platform, backend: FaultyBackend) -> None:
    backend.failing = True
    before = backend.refused
    await platform.judge.judge(dataclasses.replace(RIGHT, cases=RIGHT.cases[:1]))
    assert retries(platform) == platform.settings.judge_attempts - 1
    assert backend.refused - before <= 2 * platform.settings.judge_attempts  # the pool opens one ahead of each request


async def test_a_fault_that_passes_is_waited_out(platform: Platform, backend: FaultyBackend) -> None:
    backend.failing = True
    judging = asyncio.create_task(platform.judge.judge(RIGHT))
    await until(lambda: backend.refused)
    backend.failing = False
    verdict = await judging
    assert verdict.accepted and len(verdict.cases) == 3 and retries(platform) >= 1


@pytest.mark.parametrize("made", [RIGHT, dataclasses.replace(RIGHT, cases=RIGHT.cases[:1])], ids=["many cases", "one case"])
async def test_boxes_that_die_are_replaced(platform: Platform, backend: FaultyBackend, made: Trial) -> None:
    backend.kill_next = 4
    verdict = await platform.judge.judge(made)
    assert verdict.accepted and backend.kill_next < 4  # one that stood ready before may have been enough


async def test_a_program_that_is_killed_from_outside_is_run_again(platform: Platform, backend: FaultyBackend) -> None:
    slow = trial("import time\nfor _ in range(20): time.sleep(0.1)\nprint(2)", ("", "2"))
    judging = asyncio.create_task(platform.judge.judge(slow))
    before = len(backend.boxes)
    await until(lambda: len(backend.boxes) > before and backend.boxes[-1]._busy)
    signal.pidfd_send_signal(backend.boxes[-1].runner_pidfd, signal.SIGKILL)
    verdict = await judging
    assert verdict.accepted and retries(platform) >= 1 and len(backend.boxes) > before + 1


async def test_a_program_that_kills_itself_is_believed_in_the_end(platform: Platform) -> None:
    verdict = await platform.judge.judge(trial("import os\nos.kill(os.getpid(), 9)", ("", "")))
    assert (verdict.reason, verdict.blame) == (Reason.runtime_error, Blame.program)


async def test_who_finds_no_place_comes_again(settings: Settings) -> None:
    narrow = dataclasses.replace(settings, max_concurrency=1, queue_size=0)
    async with open_platform(narrow, prewarm=False) as platform:
        await platform.engine.languages(["python"])
        verdicts = await asyncio.gather(*(platform.judge.judge(RIGHT) for _ in range(3)))
    assert all(verdict.accepted or verdict.reason is Reason.not_judged for verdict in verdicts)
    assert any(verdict.accepted for verdict in verdicts) and "sandbox_rejections" in platform.metrics.exposition().decode()


def judge_with(platform: Platform, rows: UnavailableRows) -> Judge:
    loop = Loop(
        platform.engine,
        platform.request_limits,
        build_loop_options(platform.settings, warm=True),
        JudgeMetrics(Metrics(), frozenset()),
        platform.log,
    )
    return Judge(loop, registry.datasets(), registry.benchmark_classes(), Rows([rows]), registry.table_of, TextWorkers())


async def test_rows_that_cannot_be_had_are_asked_for_again_and_then_told_of(platform: Platform, tmp_path: Path) -> None:
    (tmp_path / "code_eval_code_contests.jsonl").write_text(json.dumps(ROW))
    rows = UnavailableRows(tmp_path)
    judge, options = judge_with(platform, rows), Options("code_contests", language="python")
    rows.away = True
    with pytest.raises(SandboxError, match="cannot be had"):
        await judge.submit("code_contests", 7, "print(2)", options)
    judging = asyncio.create_task(judge.submit("code_contests", 7, "```python\nprint(2)\n```", options))
    await asyncio.sleep(0)
    rows.away = False
    assert (await judging).accepted


async def test_a_database_of_rows_that_is_not_there_scores_nobody(tmp_path: Path, settings: Settings) -> None:
    away = dataclasses.replace(settings, datalake_url="mysql://nobody:x@127.0.0.1:9/rows", dataset_samples=False)
    async with open_platform(away, prewarm=False) as platform:
        with pytest.raises(SandboxError):
            await platform.judge.submit("mbpp", 1, "pass", Options("mbpp"))


async def test_completions_judged_amid_sabotage_are_scored_as_they_deserve(settings: Settings) -> None:
    """Processes killed, the disk full, rows away, more of them than there is room for. `sandbox bench --only judge-faults` does
    the same a thousand times."""
    found = await sabotaged(settings, 24)
    assert found.wrong == 0, found.examples
    assert found.judged + found.not_judged + found.refused == 24 and found.judged
