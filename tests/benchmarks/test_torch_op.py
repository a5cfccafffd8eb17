"""Operators of PyTorch: the answer lies beside the programs that compile and compare it."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest
from tests.benchmarks.judge_runs import options, prompt, trial, verdict

from sandbox_runtime.benchmarks.torch_op import TORCH_OP
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Reason

ASSETS = {"compile.py": "import torch", "run.py": "print('{\"is_correct\": true}')", "answer.cu": "old"}
ROW = {
    "id": "abs_0",
    "content": "Write a kernel.",
    "labels": {},
    "test": {"asset": json.dumps({name: b64encode(text.encode()).decode() for name, text in ASSETS.items()})},
    "canonical_answer": "__global__ void kernel() {}",
}


def test_the_answer_replaces_the_file_of_its_name() -> None:
    assert TORCH_OP.reference is not None
    ((reference, _),) = TORCH_OP.reference(ROW, options("torch_op"))
    asked = trial(TORCH_OP, ROW, reference)
    files = {file.name: file.content.decode() for file in asked.job.files}
    assert files == {**ASSETS, "answer.cu": ROW["canonical_answer"]}
    assert asked.job.language == "python_gpu" and asked.guard.must_match
    assert prompt(TORCH_OP, ROW).prompt == "Write a kernel."


@pytest.mark.asyncio(loop_scope="session")
async def test_without_a_gpu_nothing_is_said_of_a_kernel(judge: Judge) -> None:
    told = await verdict(judge, TORCH_OP, ROW, "```cpp\n__global__ void kernel() {}\n```")
    if told.reason is not Reason.not_judged:
        pytest.skip("this host has a GPU")
    assert not told.accepted and told.message
