"""From what a model wrote to the code in it, as named pure steps.

Contract: nothing here runs anything, and no step takes longer than in proportion to the text, whatever the text is.
`default_extract` is the usual way; `freeform` and `freeform_v2` are those of benchmarks whose answers are free in form.
Extraction code of a caller's own is run in a box before any of this; what it found comes in with the completion.
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
