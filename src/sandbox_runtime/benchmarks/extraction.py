"""Extraction for benchmarks whose answers are free in form: what the caller's own extraction code found comes first."""

from __future__ import annotations

from typing import Unpack

from sandbox_runtime.judge.extraction import FENCED, ExtractedCode, FreeformOptions, default_extract, freeform
from sandbox_runtime.model.judge import Completion


def freely(
    completion: Completion, language: str, *, text: str | None = None, **options: Unpack[FreeformOptions]
) -> ExtractedCode:
    """text: what to read instead of all that the model wrote."""
    if any(block.priority > FENCED for block in completion.custom):
        return default_extract(completion, language)
    return freeform(completion.text if text is None else text, language, **options)
