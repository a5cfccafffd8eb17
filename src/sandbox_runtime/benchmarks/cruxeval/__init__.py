"""CRUXEval: what does this function give for this input (mode output), and which input makes it give this (mode input)?

A row in Python: id, code (defines f), input (its arguments), output. A row in another language (CRUXEval-X): id
("<language>_<n>"), code, and as input, output and gt the text of a check, in which ???? stands for what is asked; in gt nothing
is missing. The answer of a model is put into the check, so it must be one value: an answer that calls the function to tell what
it gives, or that breaks out of its place in the check, is refused and told.
"""

from __future__ import annotations

from sandbox_runtime.benchmarks.cruxeval.modes import INPUT, MODES, OUTPUT, is_multilingual, mode_of
from sandbox_runtime.benchmarks.cruxeval.multilingual import multilingual_reference, multilingual_trial
from sandbox_runtime.benchmarks.cruxeval.prompts import prompts
from sandbox_runtime.benchmarks.cruxeval.python import python_reference, python_row_trial
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Row, Trial

__all__ = ["CRUXEVAL", "INPUT", "OUTPUT"]


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    mode = mode_of(options)
    return (
        multilingual_trial(row, completion, options, mode)
        if is_multilingual(row)
        else python_row_trial(row, completion, options, mode)
    )


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    modes = (options.extra["mode"],) if options.extra.get("mode") in MODES else MODES
    make = multilingual_reference if is_multilingual(row) else python_reference
    return tuple(answer for mode in modes for answer in make(row, options, mode))


CRUXEVAL = Benchmark(name="CruxEvalDataset", prompts=prompts, trial=_trial, reference=_reference)
