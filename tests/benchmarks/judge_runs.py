"""Short ways to ask a benchmark, for its tests."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial, Verdict

DATA_VARIABLE = "SANDBOX_TEST_DATA_DIR"


def options(
    dataset: str = "", *, language: str | None = None, locale: str | None = None, fewshot: bool | None = None, **extra: Any
) -> Options:
    return Options(dataset=dataset, language=language, locale=locale, is_fewshot=fewshot, extra=extra)


def trial(benchmark: Benchmark, row: Row, text: str, asked: Options | None = None) -> Trial:
    return benchmark.trial(row, Completion(text), asked or options())


def prompt(benchmark: Benchmark, row: Row, asked: Options | None = None) -> Prompt:
    return benchmark.prompts(row, asked or options())[-1]


async def verdict(judge: Judge, benchmark: Benchmark, row: Row, text: str, asked: Options | None = None) -> Verdict:
    return await judge.judge(trial(benchmark, row, text, asked))


async def accepted(judge: Judge, benchmark: Benchmark, row: Row, text: str, asked: Options | None = None) -> bool:
    return (await verdict(judge, benchmark, row, text, asked)).accepted


async def references(judge: Judge, benchmark: Benchmark, row: Row, asked: Options | None = None) -> list[bool]:
    """Whether each of the row's reference solutions is accepted."""
    assert benchmark.reference is not None
    told = benchmark.reference(row, asked or options())
    return [(await verdict(judge, benchmark, row, text, under)).accepted for text, under in told]


def published(name: str) -> list[dict[str, Any]]:
    """The records of a published file, where the developer has them."""
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        pytest.skip(f"{DATA_VARIABLE} does not name a folder with published datasets")
    path = Path(folder) / name
    if not path.exists():
        pytest.skip(f"there is no {path}")
    text = gzip.decompress(path.read_bytes()).decode()
    return [json.loads(line) for line in text.splitlines() if line.strip()]
