"""What is asked of a model, and how its answer is found in what it wrote."""

from __future__ import annotations

import dataclasses

from sandbox_runtime.benchmarks.row_columns import text
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import fenced_blocks, text_before
from sandbox_runtime.model.judge import Options, Row

INPUT, OUTPUT = "input", "output"
MODES = (INPUT, OUTPUT)
PLACEHOLDER = "????"
"""Stands for what is asked, in the checks of rows in other languages."""
_OPEN, _CLOSE, _DONE = "[ANSWER]", "[/ANSWER]", "# done"


def mode_of(options: Options) -> str:
    mode = options.extra.get("mode")
    if mode not in MODES:
        raise InvalidRequest("extra.mode must be 'input' (an input is to be told) or 'output' (an output is to be told)")
    return str(mode)


def with_mode(options: Options, mode: str) -> Options:
    return dataclasses.replace(options, extra={**options.extra, "mode": mode})


def is_multilingual(row: Row) -> bool:
    """Whether the row is one of CRUXEval-X, in the form that has the text of a check."""
    return PLACEHOLDER in text(row, "input") and PLACEHOLDER in text(row, "output")


def find_answer(completion: str) -> str:
    """What stands between the marks; a fence around it is no part of it."""
    written = text_before(text_before(completion, _DONE), _CLOSE).rpartition(_OPEN)[2]
    blocks = fenced_blocks(written)
    return (blocks[0].code if blocks else written).strip()
