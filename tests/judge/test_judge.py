"""The judge as doors see it: datasets, prompts, verdicts of completions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio
from tests.judge.trials import job, settings_in

from sandbox_runtime.assembly import Platform, build_loop_options, open_platform
from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.judge.extraction import default_extract
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.judge.judge_loop import Loop
from sandbox_runtime.judge.rows import Rows
from sandbox_runtime.judge.text_workers import TextWorkers
from sandbox_runtime.model import Benchmark, Case, Check, Completion, Dataset, Options, Prompt, Reason, Row, Trial, Verdict
from sandbox_runtime.telemetry import JudgeMetrics, Metrics

pytestmark = pytest.mark.asyncio(loop_scope="module")
ROW = {"id": 3, "says": "hello"}
OPTIONS = Options("greetings")


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    return tuple(Prompt(row["id"], f"{way} {row['says']}") for way in ("print", "write"))


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    extracted = default_extract(completion, "python")
    return Trial(job(extracted.code), (Case(expected=row["says"]),), Check("trimmed"), extracted_code=extracted.code)


def _extra(row: Row, verdict: Verdict) -> Mapping[str, Any]:
    return {"said": row["says"], "right": verdict.accepted}


GREETINGS = Benchmark("GreetingsDataset", _prompts, _trial, extra=_extra)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def platform(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Platform]:
    async with open_platform(settings_in(tmp_path_factory.mktemp("judge"))) as opened:
        yield opened


@pytest.fixture
def judge(platform: Platform) -> Judge:
    options = build_loop_options(platform.settings, warm=True)
    loop = Loop(platform.engine, platform.request_limits, options, JudgeMetrics(Metrics(), frozenset()), platform.log)
    dataset = Dataset("greetings", GREETINGS, "table_of_greetings")
    return Judge(loop, [dataset], {GREETINGS.name: GREETINGS}, Rows([]), "table_{}".format, TextWorkers())


async def test_a_completion_is_judged_with_the_row_that_comes_with_it(judge: Judge) -> None:
    right = await judge.submit("greetings", 3, "```python\nprint('hello')\n```", OPTIONS, provided=ROW)
    wrong = await judge.submit("greetings", 3, "```python\nprint('bye')\n```", OPTIONS, provided=ROW)
    assert (
        right.accepted
        and right.extracted_code.strip() == "print('hello')"
        and right.extra.items() >= {"said": "hello", "right": True}.items()
    )
    assert wrong.reason is Reason.wrong_answer and wrong.extra["right"] is False


async def test_a_completion_longer_than_allowed_is_refused_with_the_bound_and_the_setting(judge: Judge) -> None:
    with pytest.raises(InvalidRequest, match=r"1,048,577 bytes; at most 1,048,576 are allowed.*max_completion_bytes"):
        await judge.submit("greetings", 3, "x" * (1024**2 + 1), OPTIONS, provided=ROW)
    with pytest.raises(InvalidRequest, match="bytes"):
        await judge.submit("greetings", 3, "é" * (1024**2 // 2 + 1), OPTIONS, provided=ROW)


async def test_a_long_completion_is_judged_like_a_short_one(judge: Judge) -> None:
    text = "\n" * 500_000 + "```python\nprint('hello')\n```"
    assert (await judge.submit("greetings", 3, text, OPTIONS, provided=ROW)).accepted


async def test_extraction_code_of_the_caller_goes_before_ours(judge: Judge) -> None:
    logic = "submit_code_blocks([CodeBlock(priority=50, language='python', code=\"print('hello')\")])"
    verdict = await judge.submit("greetings", 3, "```python\nprint('bye')\n```", OPTIONS, extract=logic, provided=ROW)
    assert verdict.accepted


async def test_of_rows_with_several_prompts_all_first_ones_come_first(judge: Judge) -> None:
    rows = [ROW, {"id": 4, "says": "bye"}]
    told = await judge.prompts("greetings", OPTIONS, provided=rows)
    assert [prompt.prompt for prompt in told] == ["print hello", "print bye", "write hello", "write bye"]
    assert (await judge.prompt("greetings", 3, OPTIONS, provided=ROW)).prompt == "write hello"


async def test_a_dataset_that_is_not_registered_needs_the_name_of_its_class(judge: Judge) -> None:
    assert judge.dataset("mine", "GreetingsDataset") == Dataset("mine", GREETINGS, "table_mine")
    with pytest.raises(InvalidRequest, match="no eval class found for dataset mine"):
        judge.dataset("mine")
    with pytest.raises(InvalidRequest, match="eval class NoDataset not found"):
        judge.dataset("mine", "NoDataset")
    with pytest.raises(NotFound, match="the dataset 'greetings' has no rows"):
        await judge.submit("greetings", 3, "", OPTIONS)


async def test_the_platform_knows_every_dataset_in_its_order(platform: Platform) -> None:
    names = platform.judge.datasets()
    assert names[:3] == ["aider_benchmark_v1", "code_contests", "cruxeval"] and len(set(names)) == len(names)
