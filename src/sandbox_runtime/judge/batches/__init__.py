"""Batches: completions by the million, judged in turn, with results that outlive connections, restarts and kill -9.

Contract: once a batch has an id, every completion of it gets exactly one result, whatever happens to this process in between,
unless the batch is cancelled. A fault of ours is waited out and tried again, and at last told as not judged. Owners share the
places evenly: a batch of a million lines does not keep another owner's ten waiting.
"""

from sandbox_runtime.judge.batches.batches import Batches, BatchOptions, open_batches
from sandbox_runtime.judge.batches.config import LineConfig, read_config
from sandbox_runtime.judge.batches.line_judge import LineJudge, judge_lines, make_line_judge
from sandbox_runtime.judge.batches.lines import BatchLine, LineResult, read_line

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
