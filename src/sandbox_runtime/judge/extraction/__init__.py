"""Extract code from a model's completion, in pure steps.

Contract: nothing here executes anything, and every step is linear in the length of the text. `default_extract` is the default;
`freeform` and `freeform_v2` serve benchmarks with free-form answers. Extraction code of the caller runs in a box before these
steps; the blocks it found come with the completion.
"""

from sandbox_runtime.judge.extraction.default import EMPTY, ExtractedCode, choose_block, default_extract
from sandbox_runtime.judge.extraction.fences import FENCED, INCOMPLETE, fenced_blocks, incomplete_blocks
from sandbox_runtime.judge.extraction.freeform import FreeformOptions, freeform, freeform_v2
from sandbox_runtime.judge.extraction.heuristics import HEURISTIC, heuristic_blocks
from sandbox_runtime.judge.extraction.languages import fence_language, same_language
from sandbox_runtime.judge.extraction.stop_words import before_first_unindented_line, text_before, trim_stop_tokens

__all__ = [
    "EMPTY",
    "FENCED",
    "HEURISTIC",
    "INCOMPLETE",
    "ExtractedCode",
    "FreeformOptions",
    "before_first_unindented_line",
    "choose_block",
    "default_extract",
    "fence_language",
    "fenced_blocks",
    "freeform",
    "freeform_v2",
    "heuristic_blocks",
    "incomplete_blocks",
    "same_language",
    "text_before",
    "trim_stop_tokens",
]
