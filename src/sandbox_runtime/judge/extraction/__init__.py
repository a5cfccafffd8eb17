"""From what a model wrote to the code in it, as named pure steps.

Contract: nothing here runs anything, and no step takes longer than in proportion to the text, whatever the text is.
`default_extract` is the usual way; `freeform` and `freeform_v2` are those of benchmarks whose answers are free in form.
Extraction code of a caller's own is run in a box before any of this; what it found comes in with the completion.
"""

from sandbox_runtime.judge.extraction.default import EMPTY, Extracted, chosen, default_extract
from sandbox_runtime.judge.extraction.fences import FENCED, INCOMPLETE, fenced, incomplete
from sandbox_runtime.judge.extraction.freeform import FreeformOptions, freeform, freeform_v2
from sandbox_runtime.judge.extraction.heuristics import HEURISTIC, heuristic
from sandbox_runtime.judge.extraction.languages import language_of_fence, same_language
from sandbox_runtime.judge.extraction.stop_words import before, before_first_unindented_line, trim_stop_tokens

__all__ = [
    "EMPTY",
    "FENCED",
    "HEURISTIC",
    "INCOMPLETE",
    "Extracted",
    "FreeformOptions",
    "before",
    "before_first_unindented_line",
    "chosen",
    "default_extract",
    "fenced",
    "freeform",
    "freeform_v2",
    "heuristic",
    "incomplete",
    "language_of_fence",
    "same_language",
    "trim_stop_tokens",
]
