"""Every dataset answers out of the box, with sample rows: its reference solution is accepted and a wrong answer rejected."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.servers import Client, serving

from sandbox_runtime.benchmarks.registry import datasets
from sandbox_runtime.model.judge import Dataset, Options
from sandbox_runtime.settings import Settings

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

OURS = (
    "humaneval_x_python",
    "humaneval_x_java",
    "humaneval_x_cpp",
    "humaneval_x_go",
    "humaneval_x_rust",
    "humaneval_x_js",
    "humanevalplus",
    "mbppplus",
    "mbpp_sanitized",
    "bigcodebench_hard",
    "verilogeval_v2_complete",
    "verilogeval_v2_spec",
    "aider_polyglot",
    "can_it_edit",
    "torch_op",
)
RIGHT_ONES_ONLY = (
    "humaneval_csharp", "mbpp_sanitized", "bigcodebench_hard", "ncb_python_zh", "ncb_java_zh", "verilogeval_v2_spec",
    "multiple_scala", "multiple_jl",
)  # fmt: skip
"""Their programs are those of other datasets, or slow, and wrong ones are tried elsewhere."""
WITHIN_S = 100.0
"""On a slow machine that does other things as well."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")), check_languages=False, log_level="error")
    async with serving(settings) as opened:
        opened.timeout = 300
        yield opened


async def ask(client: Client, path: str, dataset: str, **body: Any) -> Any:
    answer = await client.post(path, json={"dataset": dataset, "config": {}, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_every_registered_dataset_is_tried_here(client: Client) -> None:
    marks = [mark for mark in test_a_dataset_of_others.pytestmark if mark.name == "parametrize"]
    names = {param.values[0] for mark in marks for param in mark.args[1]}
    assert names | set(OURS) == set((await client.get("/list_datasets")).json())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("aider_benchmark_v1", marks=pytest.mark.requirement("judge-9.01")),
        pytest.param("code_contests", marks=pytest.mark.requirement("judge-9.02")),
        pytest.param("cruxeval", marks=pytest.mark.requirement("judge-9.03")),
        pytest.param("cruxeval_x", marks=pytest.mark.requirement("judge-9.04")),
        pytest.param("multiple_cpp", marks=pytest.mark.requirement("judge-9.05")),
        pytest.param("multiple_ts", marks=pytest.mark.requirement("judge-9.06")),
        pytest.param("multiple_sh", marks=pytest.mark.requirement("judge-9.07")),
        pytest.param("multiple_cs", marks=pytest.mark.requirement("judge-9.08")),
        pytest.param("multiple_go", marks=pytest.mark.requirement("judge-9.09")),
        pytest.param("multiple_java", marks=pytest.mark.requirement("judge-9.10")),
        pytest.param("multiple_lua", marks=pytest.mark.requirement("judge-9.11")),
        pytest.param("multiple_js", marks=pytest.mark.requirement("judge-9.12")),
        pytest.param("multiple_php", marks=pytest.mark.requirement("judge-9.13")),
        pytest.param("multiple_pl", marks=pytest.mark.requirement("judge-9.14")),
        pytest.param("multiple_rkt", marks=pytest.mark.requirement("judge-9.15")),
        pytest.param("multiple_r", marks=pytest.mark.requirement("judge-9.16")),
        pytest.param("multiple_rs", marks=pytest.mark.requirement("judge-9.17")),
        pytest.param("multiple_scala", marks=pytest.mark.requirement("judge-9.18")),
        pytest.param("multiple_swift", marks=pytest.mark.requirement("judge-9.19")),
        pytest.param("multiple_rb", marks=pytest.mark.requirement("judge-9.20")),
        pytest.param("multiple_d", marks=pytest.mark.requirement("judge-9.21")),
        pytest.param("multiple_jl", marks=pytest.mark.requirement("judge-9.22")),
        pytest.param("humaneval_python", marks=pytest.mark.requirement("judge-9.23")),
        pytest.param("humaneval_cpp", marks=pytest.mark.requirement("judge-9.24")),
        pytest.param("humaneval_typescript", marks=pytest.mark.requirement("judge-9.25")),
        pytest.param("humaneval_bash", marks=pytest.mark.requirement("judge-9.26")),
        pytest.param("humaneval_csharp", marks=pytest.mark.requirement("judge-9.27")),
        pytest.param("humaneval_go", marks=pytest.mark.requirement("judge-9.28")),
        pytest.param("humaneval_java", marks=pytest.mark.requirement("judge-9.29")),
        pytest.param("shadow_humaneval_python", marks=pytest.mark.requirement("judge-9.30")),
        pytest.param("bigcodebench", marks=pytest.mark.requirement("judge-9.31")),
        pytest.param("evoeval", marks=pytest.mark.requirement("judge-9.32")),
        pytest.param("live_code_bench_v1", marks=pytest.mark.requirement("judge-9.33")),
        pytest.param("mbpp", marks=pytest.mark.requirement("judge-9.34")),
        pytest.param("mbxp_v1_en", marks=pytest.mark.requirement("judge-9.35")),
        pytest.param("humanevalds_v1_en", marks=pytest.mark.requirement("judge-9.36")),
        pytest.param("oodtest_v1_zh", marks=pytest.mark.requirement("judge-9.37")),
        pytest.param("humanevalds_v2_en", marks=pytest.mark.requirement("judge-9.38")),
        pytest.param("mbxp_v2_en", marks=pytest.mark.requirement("judge-9.39")),
        pytest.param("mhpp", marks=pytest.mark.requirement("judge-9.40")),
        pytest.param("minif2f_lean4_test", marks=pytest.mark.requirement("judge-9.41")),
        pytest.param("minif2f_lean4_valid", marks=pytest.mark.requirement("judge-9.42")),
        pytest.param("ncb_python_zh", marks=pytest.mark.requirement("judge-9.43")),
        pytest.param("ncb_python_en", marks=pytest.mark.requirement("judge-9.44")),
        pytest.param("ncb_java_zh", marks=pytest.mark.requirement("judge-9.45")),
        pytest.param("ncb_java_en", marks=pytest.mark.requirement("judge-9.46")),
        pytest.param("palmath", marks=pytest.mark.requirement("judge-9.47")),
        pytest.param("repobench_c_python", marks=pytest.mark.requirement("judge-9.48")),
        pytest.param("repobench_c_java", marks=pytest.mark.requirement("judge-9.49")),
        pytest.param("repobench_p_python", marks=pytest.mark.requirement("judge-9.50")),
        pytest.param("repobench_p_java", marks=pytest.mark.requirement("judge-9.51")),
        pytest.param("verilogeval_human", marks=pytest.mark.requirement("judge-9.52")),
        pytest.param("verilogeval_machine", marks=pytest.mark.requirement("judge-9.53")),
    ],
)
async def test_a_dataset_of_others(client: Client, name: str) -> None:
    await walked(client, name)


@pytest.mark.parametrize("name", OURS)
async def test_a_dataset_of_ours(client: Client, name: str) -> None:
    await walked(client, name)


async def walked(client: Client, name: str) -> None:
    prompts = await ask(client, "/get_prompts", name)
    ids = await ask(client, "/list_ids", name)
    assert prompts and ids == [prompt["id"] for prompt in prompts]
    assert all(prompt["prompt"] for prompt in prompts)
    first = ids[0]
    assert (await ask(client, "/get_prompt_by_id", name, id=first))["id"] == first
    reference, config = await the_reference(client, name, first)
    right = await judged(client, name, first, reference, config)
    assert right["accepted"], right
    if name in RIGHT_ONES_ONLY:
        return
    wrong = await judged(client, name, first, wrong_answer(name, reference), config)
    assert not wrong["accepted"] and wrong["extra"]["reason"] != "time_limit", wrong


async def the_reference(client: Client, name: str, called: int | str) -> tuple[str, dict[str, Any]]:
    dataset = next(each for each in datasets() if each.id == name)
    row = await client.platform.judge.row(dataset, called)
    assert dataset.benchmark.reference is not None
    completion, options = dataset.benchmark.reference(row, Options(name, extra=mode_of(dataset)))[0]
    given = {"extra": dict(options.extra), "language": options.language, "run_timeout": WITHIN_S, "compile_timeout": WITHIN_S}
    return completion, given


def mode_of(dataset: Dataset) -> dict[str, str]:
    return {"mode": "output"} if dataset.benchmark.name == "CruxEvalDataset" else {}


def wrong_answer(name: str, reference: str) -> str:
    """The samples are written so that the first plus of every solution matters."""
    if name.startswith("cruxeval"):
        return "[ANSWER]12345[/ANSWER]"
    assert "+" in reference
    return reference.replace("+", "-", 1)


async def judged(client: Client, name: str, called: int | str, completion: str, config: dict[str, Any]) -> dict[str, Any]:
    body = {"dataset": name, "id": called, "completion": completion, "config": config}
    answer = await client.post("/submit", json=body)
    if answer.status_code == 500 and "does not work on this host" in answer.text:
        pytest.skip(answer.json()["detail"])
    assert answer.status_code == 200, answer.text
    return dict(answer.json())
