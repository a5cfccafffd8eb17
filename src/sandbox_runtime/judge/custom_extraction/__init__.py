"""Extraction code of a caller's own, run in a box.

Contract: it never runs in this process. It finds in its scope what other judges give such code (`completion`, `CodeBlock`,
`submit_code_blocks`, `extract_fenced_code`, `extract_heuristic_code`), and the blocks it submits come back as data. Code that
fails is the caller's fault and is told with what it printed; a box that fails is ours.
"""

from sandbox_runtime.judge.custom_extraction.runner import extract_custom_blocks

__all__ = ["extract_custom_blocks"]
