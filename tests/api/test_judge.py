"""The judge's routes: datasets, prompts, verdicts."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.api.servers import Client, serving

from sandbox_runtime.sdk.judge_models import EvalResult, Prompt
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

ADDS = "```python\na, b = map(int, input().split())\nprint(a + b)\n```"
ROW: dict[str, Any] = {
    "id": 1,
    "content": "Add two numbers.",
    "labels": '{"difficulty": "EASY"}',
    "test": [
        {"input": {"stdin": "1 2\n"}, "output": {"stdout": "3\n"}},
        {"input": {"stdin": "0 " + "0" * 2000 + "5\n"}, "output": {"stdout": "5\n"}},
        {"input": {"stdin": "2 2\n"}, "output": {"stdout": "5\n"}},
        {"input": {"stdin": "3 3\n"}, "output": {"stdout": "6\n"}},
    ],
}
RIGHT = {**ROW, "test": [ROW["test"][0], ROW["test"][1]]}
PYTHON = {"language": "python"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(folder: Path) -> AsyncIterator[Client]:
    settings = Settings(
        state_dir=str(folder),
        pod_name="pod-7",
        check_languages=False,
        judge_attempts=2,
        judge_retry_first_s=0.01,
        log_level="error",
    )
    async with serving(settings) as opened:
        yield opened


async def ask(client: Client, path: str, status: int = 200, **body: Any) -> Any:
    answer = await client.post(path, json={"dataset": "code_contests", "config": {}, **body})
    assert answer.status_code == status, answer.text
    return answer.json()


async def submit(client: Client, completion: str = ADDS, row: dict[str, Any] = RIGHT, **config: Any) -> dict[str, Any]:
    config = {**PYTHON, "provided_data": row, **config}
    result = await ask(client, "/submit", id=7, completion=completion, config=config)
    EvalResult.model_validate(result)
    return dict(result)


@pytest.mark.requirement("fusion-1.06", "judge-8.01")
async def test_all_datasets_are_listed_in_their_order(client: Client) -> None:
    listed = (await client.get("/list_datasets")).json()
    assert listed[:5] == ["aider_benchmark_v1", "code_contests", "cruxeval", "cruxeval_x", "multiple_cpp"]
    assert listed.index("evoeval") < listed.index("live_code_bench_v1") < listed.index("mbpp") < listed.index("humaneval_x_js")


@pytest.mark.requirement("judge-8.02", "judge-8.03", "judge-8.04", "judge-7.02", "judge-7.03", "judge-7.11")
async def test_prompts_are_listed_and_found_by_id(client: Client) -> None:
    prompts = await ask(client, "/get_prompts", dataset="mbpp")
    assert [prompt["id"] for prompt in prompts] == [11, 12] == await ask(client, "/list_ids", dataset="mbpp")
    for prompt in prompts:
        Prompt.model_validate(prompt)
    assert await ask(client, "/get_prompts", dataset="mbpp", offset=1) == prompts[1:]
    assert await ask(client, "/get_prompts", dataset="mbpp", limit=1) == prompts[:1]
    assert await ask(client, "/list_ids", dataset="mbpp", offset=5) == []
    assert await ask(client, "/get_prompt_by_id", dataset="mbpp", id=12) == prompts[1]
    assert await ask(client, "/get_prompt_by_id", dataset="mbpp", id="12") == prompts[1]


@pytest.mark.requirement("judge-7.05", "judge-7.06", "judge-7.07")
async def test_rows_may_come_with_the_request(client: Client) -> None:
    listed = await ask(client, "/get_prompts", config={"provided_data": [ROW, {**ROW, "id": "b"}]})
    assert [prompt["id"] for prompt in listed] == [1, "b"] and listed[0]["labels"] == {"difficulty": "EASY"}
    assert (await ask(client, "/get_prompt_by_id", id=9, config={"provided_data": ROW}))["id"] == 1
    assert (await submit(client))["id"] == 7
    for path, given in (("/get_prompts", ROW), ("/list_ids", ROW), ("/get_prompt_by_id", [ROW]), ("/submit", [ROW])):
        body = {"id": 1, "completion": "", "config": {**PYTHON, "provided_data": given}}
        assert "provided_data must be" in (await ask(client, path, 400, **body))["detail"]


@pytest.mark.requirement("judge-8.05", "judge-8.06", "judge-8.13")
async def test_a_completion_that_is_right(client: Client) -> None:
    result = await submit(client)
    assert result["accepted"] and result["extracted_type"] == "fenced"
    assert set(result) == {
        "id", "accepted", "extracted_code", "full_code", "test_code", "tests", "extracted_type", "extra"
    }  # fmt: skip
    guard = {"guard": "split", "evidence": "output"}
    assert result["extra"] == {"reason": "accepted", "blame": None, "tamper": [], "message": "", **guard}
    case = result["tests"][0]
    assert case["passed"] and case["test_info"] == RIGHT["test"][0] and case["reason"] == "accepted"
    run = await client.run_code(result["extracted_code"], stdin="1 2\n")
    reply = case["exec_info"]
    assert set(reply) == set(run) and set(reply["run_result"]) == set(run["run_result"])
    assert (reply["status"], reply["executor_pod_name"], reply["run_result"]["stdout"]) == ("Success", "pod-7", "3\n")
    assert reply["run_result"]["details"]["limits"]["memory_bytes"] > 0


@pytest.mark.requirement("judge-10.04", "judge-10.05")
async def test_a_completion_that_is_wrong_is_told_up_to_the_case_that_fails(client: Client) -> None:
    result = await submit(client, row=ROW)
    assert not result["accepted"] and [case["passed"] for case in result["tests"]] == [True, True, False]
    assert (result["extra"]["reason"], result["extra"]["blame"]) == ("wrong_answer", "program")
    assert "..." in result["tests"][1]["test_info"]["input"]["stdin"]
    everything = await submit(client, row=ROW, extra={"run_all_cases": True, "return_full_case": True})
    assert [case["passed"] for case in everything["tests"]] == [True, True, False, True]
    assert everything["tests"][1]["test_info"] == ROW["test"][1]


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [
        ("1/0", "runtime_error", "Failed"),
        ("import time; time.sleep(60)", "time_limit", "Failed"),
        ("x = bytearray(10**12)", "runtime_error", "Failed"),
        ("print(", "runtime_error", "Failed"),
    ],
)
async def test_why_a_completion_fails_is_told(client: Client, code: str, reason: str, status: str) -> None:
    result = await submit(client, f"```python\n{code}\n```", run_timeout=5)
    assert not result["accepted"] and result["extra"]["reason"] == reason
    assert result["tests"][0]["exec_info"]["status"] == status


@pytest.mark.requirement("judge-8.10", "fusion-1.13")
@pytest.mark.parametrize(
    "path", ["/list_ids", "/get_prompts", "/get_prompt_by_id", "/submit", "/get_metrics", "/get_metrics_function"]
)
async def test_a_dataset_that_nobody_knows_is_a_wrong_request(client: Client, path: str) -> None:
    body = {"dataset": "nobody's", "id": 1, "completion": "", "results": []}
    assert (await ask(client, path, 400, **body))["detail"].startswith("no eval class found for dataset nobody's")
    result = await ask(client, path, 400, **body, config={"dataset_type": "NoDataset"})
    assert result["detail"] == "eval class NoDataset not found"


@pytest.mark.requirement("judge-8.09", "judge-10.11")
@pytest.mark.parametrize("kind", ["AutoEvalDataset", "AutoEvalV4Dataset", "AutoEvalV5Dataset", "AutoEvalV6Dataset"])
async def test_rows_of_an_unregistered_dataset_name_their_class(client: Client, kind: str) -> None:
    row = {
        "id": 1,
        "content": "Add.",
        "labels": {"programming_language": "python"},
        "test": {"code": "#<INSERT>\nassert add(1, 2) == 3\n"},
    }
    config = {"dataset_type": kind, "provided_data": row}
    right = "```python\ndef add(a, b):\n    return a + b\n```"
    body = {"dataset": "mine", "id": 1, "config": config}
    assert (await ask(client, "/submit", **body, completion=right))["accepted"] is True
    assert (await ask(client, "/submit", **body, completion=right.replace("+", "-")))["accepted"] is False


@pytest.mark.requirement("judge-8.11")
@pytest.mark.parametrize(
    "body",
    [
        {"config": {"language": "klingon"}},
        {"config": {"language": "js"}},
        {"config": {"run_timeout": 0}},
        {"config": {"extra": []}},
        {"config": None},
        {"offset": -1},
        {"dataset": 5},
    ],
)
async def test_a_body_that_does_not_fit_is_422(client: Client, body: dict[str, Any]) -> None:
    assert (await ask(client, "/get_prompts", 422, **body))["detail"]


@pytest.mark.requirement("judge-10.01")
async def test_a_contest_problem_needs_a_language(client: Client) -> None:
    body = {"id": 1, "completion": ADDS, "config": {"provided_data": ROW}}
    assert "config.language is required" in (await ask(client, "/submit", 400, **body))["detail"]


@pytest.mark.requirement("judge-7.08")
async def test_a_row_that_is_not_there_is_500_and_no_verdict(client: Client) -> None:
    for path in ("/get_prompt_by_id", "/submit"):
        result = await ask(client, path, 500, dataset="mbpp", id="none", completion="", config=PYTHON)
        assert "no row 'none'" in result["detail"] and result["traceback"]
    listed = await ask(client, "/list_ids", 500, dataset="mine", config={"dataset_type": "MBPPDataset"})
    assert "no table 'code_eval_mine'" in listed["detail"]
    assert (
        "invalid table name"
        in (await ask(client, "/list_ids", 400, dataset="../../etc", config={"dataset_type": "MBPPDataset"}))["detail"]
    )


@pytest.mark.requirement("judge-7.01", "judge-7.09")
async def test_rows_that_are_added_while_the_server_runs_are_used(client: Client, folder: Path) -> None:
    (folder / "datasets").mkdir(exist_ok=True)
    (folder / "datasets" / "code_eval_added.jsonl").write_text(json.dumps({**RIGHT, "id": 3}) + "\n")
    body = {"dataset": "added", "config": {**PYTHON, "dataset_type": "CommonOJDataset"}}
    assert await ask(client, "/list_ids", **body) == [3]
    assert (await ask(client, "/submit", **body, id=3, completion=ADDS))["accepted"]
    os.unlink(folder / "datasets" / "code_eval_added.jsonl")
    await ask(client, "/list_ids", 500, **body)


@pytest.mark.requirement("judge-8.12")
async def test_what_could_not_be_judged_is_500_and_no_verdict(client: Client) -> None:
    """Lean is not in any package registry, so it is missing unless it was installed by hand."""
    proof = await client.platform.engine.languages(["lean"])
    if proof[0].enabled:
        pytest.skip("Lean works on this host")
    row = {"id": "t", "content": "theorem t : 1 = 1 := by sorry", "labels": {}, "canonical_answer": ""}
    config = {"provided_data": row}
    result = await ask(
        client, "/submit", 500, dataset="minif2f_lean4_test", id="t", completion="theorem t : 1 = 1 := by rfl", config=config
    )
    assert result["detail"].startswith("failed to request sandbox: ")


async def test_a_checker_that_fails_is_the_callers_fault(client: Client) -> None:
    config = {**PYTHON, "provided_data": RIGHT, "extra": {"checker": {"language": "python", "code": "raise SystemExit(3)"}}}
    result = await ask(client, "/submit", 400, id=1, completion=ADDS, config=config)
    assert "checker" in result["detail"]


@pytest.mark.requirement("judge-11.04", "judge-11.05")
async def test_extraction_code_of_the_callers_own_runs_in_a_box(client: Client) -> None:
    logic = (
        "import os\n"
        f"assert not os.path.exists({str(Path(__file__))!r})\n"
        "code = completion.split('<<')[1].split('>>')[0]\n"
        "submit_code_blocks([CodeBlock(priority=40, language='python', code=code)])\n"
    )
    result = await submit(client, "<<print(sum(map(int, input().split())))>>", custom_extract_logic=logic)
    assert result["accepted"] and result["extracted_code"] == "print(sum(map(int, input().split())))"
    body = {"id": 1, "completion": "", "config": {**PYTHON, "provided_data": RIGHT, "custom_extract_logic": "1/0"}}
    assert "ZeroDivisionError" in (await ask(client, "/submit", 400, **body))["detail"]


@pytest.mark.requirement("judge-8.07", "judge-8.08")
async def test_metrics_are_told_as_functions(client: Client) -> None:
    result = await submit(client)
    assert await ask(client, "/get_metrics", results=[result]) == {}
    assert await ask(client, "/get_metrics_function") == {"function": None}
    text = (await ask(client, "/get_metrics_function", dataset="mhpp"))["function"]
    assert "def get_metrics(" in text


@pytest.mark.requirement("judge-12.02")
async def test_expected_outputs_are_nowhere_in_the_box(client: Client) -> None:
    looks = (
        "import os\n"
        "wanted, seen = b'never' + b'-in-the-box', []\n"
        "for root in ('/workspace', '/tmp', '/dev/shm', '/proc/self', '/run'):\n"
        "    for folder, _, names in os.walk(root):\n"
        "        for name in names:\n"
        "            path = os.path.join(folder, name)\n"
        "            if os.path.isfile(path) and os.access(path, os.R_OK) and 'kmsg' not in name:\n"
        "                try:\n"
        "                    with open(path, 'rb') as file:\n"
        "                        seen += [path] if wanted in file.read(1 << 20) else []\n"
        "                except OSError:\n"
        "                    pass\n"
        "print(seen)\n"
    )
    row = {**ROW, "test": [{"input": {"stdin": ""}, "output": {"stdout": "never-in-the-box"}}]}
    result = await submit(client, f"```python\n{looks}\n```", row)
    ran = result["tests"][0]["exec_info"]["run_result"]
    assert (ran["stdout"], ran["stderr"]) == ("[]\n", "")


async def test_the_interface_describes_them(client: Client) -> None:
    paths = (await client.get("/openapi.json")).json()["paths"]
    for path in (
        "/list_datasets",
        "/list_ids",
        "/get_prompts",
        "/get_prompt_by_id",
        "/submit",
        "/get_metrics",
        "/get_metrics_function",
    ):
        assert path in paths
