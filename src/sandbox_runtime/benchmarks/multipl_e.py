"""MultiPL-E: the functions of HumanEval and MBPP in eighteen languages, with tests that a compiler translated.

A row: name or task_id, prompt, tests, stop_tokens, language. The rows are those of HumanEval in other languages, and so is what
is made of them; what is told apart is where they come from. As published they carry no reference solutions; a row may have one
as canonical_solution.
"""

from __future__ import annotations

from sandbox_runtime.benchmarks import humaneval
from sandbox_runtime.model.judge import Benchmark

MULTIPL_E = Benchmark(name="MultiPLEDataset", prompts=humaneval.prompts, trial=humaneval.trial, reference=humaneval.reference)
