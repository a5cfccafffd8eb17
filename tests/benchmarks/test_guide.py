"""The guide for those who add a benchmark: its example is one, and works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sandbox_runtime.model import Benchmark, Completion, Options

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "add-a-benchmark.md"
ROW = {
    "id": 1,
    "content": "Add.",
    "test": [{"in": "1 2", "out": "3"}],
    "canonical_solution": "print(sum(map(int, input().split())))",
}


def test_the_example_of_the_guide_is_a_benchmark() -> None:
    found = re.search(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    names: dict[str, Any] = {}
    exec(found[1], names)
    benchmark = names["SUMS"]
    assert isinstance(benchmark, Benchmark) and benchmark.reference is not None
    assert benchmark.prompts(ROW, Options("sums"))[0].id == 1
    ((completion, options),) = benchmark.reference(ROW, Options("sums"))
    trial = benchmark.trial(ROW, Completion(completion), options)
    assert trial.job.code == ROW["canonical_solution"] and trial.cases[0].expected == "3"
