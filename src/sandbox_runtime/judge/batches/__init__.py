"""Batches: millions of completions, judged in turn, with results that survive disconnects, restarts and kill -9.

Contract: once a batch has an id, each of its completions gets exactly one result, whatever happens to this process, unless the
batch is cancelled. Platform faults are retried with growing delays; if they persist, the result is `not_judged`. Owners share the
workers evenly: a batch of a million lines does not delay another owner's batch of ten.
"""

from sandbox_runtime.judge.batches.batches import Batches, BatchOptions, open_batches
from sandbox_runtime.judge.batches.config import LineConfig, read_config
from sandbox_runtime.judge.batches.jsonl import BatchLine, LineResult, read_line
from sandbox_runtime.judge.batches.line_judge import LineJudge, judge_lines, make_line_judge

__all__ = [
    "BatchLine",
    "BatchOptions",
    "Batches",
    "LineConfig",
    "LineJudge",
    "LineResult",
    "judge_lines",
    "make_line_judge",
    "open_batches",
    "read_config",
    "read_line",
]
