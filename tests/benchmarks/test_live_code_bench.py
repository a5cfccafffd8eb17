from __future__ import annotations

import base64
import dataclasses
import json
import pickle
import zlib
from typing import Any

import pytest
from tests.benchmarks.judge_runs import accepted, options, prompt, published, trial, verdict

from sandbox_runtime.benchmarks.live_code_bench import LIVE_CODE_BENCH
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Reason

pytestmark = pytest.mark.asyncio(loop_scope="session")


def packed(value: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def in_and_out(inputs: list[Any], outputs: list[Any], function: str | None = None) -> str:
    return json.dumps({"inputs": inputs, "outputs": outputs, "fn_name": function})


STREAMS: dict[str, Any] = {
    "id": 1,
    "content": "Halve the number.",
    "labels": '{"difficulty": "easy"}',
    "test": packed({"input_output": in_and_out(["3\n", "10\n", "2000000014\n"], ["1.5\n", "5.0\n", "1000000007.0"])}),
}
CALLED: dict[str, Any] = {
    "id": 2,
    "content": "Count the words.",
    "test": packed({"input_output": in_and_out(['["a", "b"]\n2', '["a"]\n1'], ['[2, "2"]', '[1, "1"]'], "count")}),
}
COUNT = """
class Solution:
    def count(self, words: List[str], n: int):
        print("counting")
        return (len(words), str(n))
"""


@pytest.mark.requirement("judge-10.24", "judge-13.08")
async def test_problems_by_standard_input_and_by_call_are_judged(judge: Judge) -> None:
    assert await accepted(judge, LIVE_CODE_BENCH, STREAMS, "```python\nprint(int(input()) / 2)\n```")
    assert not await accepted(judge, LIVE_CODE_BENCH, STREAMS, "```python\nprint(int(input()) // 2)\n```")
    assert await accepted(judge, LIVE_CODE_BENCH, CALLED, f"```python\n{COUNT}\n```")
    assert not await accepted(judge, LIVE_CODE_BENCH, CALLED, f"```python\n{COUNT.replace('len(words)', '2')}\n```")
    assert await accepted(judge, LIVE_CODE_BENCH, CALLED, "```python\ndef count(words, n):\n    return [n, f'{n}']\n```")


async def test_a_large_whole_number_is_not_close_to_its_neighbour(judge: Judge) -> None:
    row = {**STREAMS, "test": {"input_output": {"inputs": ["1"], "outputs": ["1000000007"], "fn_name": None}}}
    assert await accepted(judge, LIVE_CODE_BENCH, row, "```python\nprint(10**9 + 7)\n```")
    assert not await accepted(judge, LIVE_CODE_BENCH, row, "```python\nprint(10**9 + 8)\n```")


@pytest.mark.parametrize(
    "attack",
    [
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
        "class Solution:\n    def count(self, words, n):\n        import os\n        os._exit(0)",
        "class Solution:\n    def count(self, words, n):\n        return self\n    def __eq__(self, other):\n        return True",
        "import json\njson.dumps = lambda *_, **__: 'null'\nclass Solution:\n    def count(self, words, n):\n        return 0",
    ],
)
async def test_ending_early_or_giving_what_equals_all_is_no_answer(judge: Judge, attack: str) -> None:
    for row in (STREAMS, CALLED):
        assert not await accepted(judge, LIVE_CODE_BENCH, row, f"```python\n{attack}\n```")


async def test_no_expected_value_is_in_the_job() -> None:
    made = trial(LIVE_CODE_BENCH, CALLED, f"```python\n{COUNT}\n```")
    assert '"2"]' not in made.job.code and made.job.stdin is None and made.cases[0].expected == '[2, "2"]'


async def test_each_test_has_its_own_time(judge: Judge) -> None:
    made = trial(LIVE_CODE_BENCH, STREAMS, "x")
    assert made.job.run_limits.cpu_s == 6
    slow = "```python\nimport time\ntime.sleep(60)\n```"
    found = await verdict(judge, LIVE_CODE_BENCH, STREAMS, slow, dataclasses.replace(options(), run_timeout_s=1.0))
    assert found.reason is Reason.time_limit and len(found.cases) == 1


async def test_rows_as_they_are_published_are_read(judge: Judge) -> None:
    row = {
        "question_id": "abc1",
        "question_content": "Add one.",
        "starter_code": "class Solution:\n    def add(self, n: int) -> int:\n        ",
        "public_test_cases": json.dumps([{"input": "1", "output": "2", "testtype": "functional"}]),
        "private_test_cases": packed(json.dumps([{"input": "5", "output": "6", "testtype": "functional"}])),
        "metadata": '{"func_name": "add"}',
    }
    assert "class Solution" in str(prompt(LIVE_CODE_BENCH, row).prompt) and "### Question:\nAdd one." in str(
        prompt(LIVE_CODE_BENCH, row).prompt
    )
    assert await accepted(
        judge, LIVE_CODE_BENCH, row, "```python\nclass Solution:\n    def add(self, n):\n        return n + 1\n```"
    )
    assert not await accepted(
        judge, LIVE_CODE_BENCH, row, "```python\nclass Solution:\n    def add(self, n):\n        return 2\n```"
    )


async def test_with_examples_the_prompt_shows_how_to_answer() -> None:
    told = str(prompt(LIVE_CODE_BENCH, STREAMS, options(fewshot=True)).prompt)
    assert told.endswith("Halve the number.") and "### Answer" in told


class Evil:
    def __reduce__(self) -> Any:
        return (print, ("unpickled",))


@pytest.mark.parametrize(
    ("test", "told"),
    [
        (packed(Evil()), "not allowed|not a pickle"),
        ("!!", "neither"),
        (in_and_out(["1"], []), "as many"),
        (in_and_out(["1"], ["2"], "import"), "function"),
        (in_and_out([1], ["2"]), "text"),
    ],
)
async def test_tests_that_cannot_be_read_are_refused(test: str, told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        trial(LIVE_CODE_BENCH, STREAMS | {"test": test}, "x = 1")


@pytest.mark.slow
async def test_the_published_attack_is_rejected(judge: Judge) -> None:
    for row in published("sandboxfusion-samples/code_eval_live_code_bench_v1.jsonl.gz"):
        found = await verdict(judge, LIVE_CODE_BENCH, row, f"```python\n{row['canonical_solution']}\n```")
        assert not found.accepted, row["id"]
