"""Extraction code supplied by the caller, run in a box.

Contract: it never runs in this process. Its scope has the names that other judges provide (`completion`, `CodeBlock`,
`submit_code_blocks`, `extract_fenced_code`, `extract_heuristic_code`), and the blocks it submits come back as data. Code that
fails is the caller's fault and is reported with what it printed; a box that fails is a platform fault.
"""

from sandbox_runtime.judge.custom_extraction.runner import extract_custom_blocks

__all__ = ["extract_custom_blocks"]
