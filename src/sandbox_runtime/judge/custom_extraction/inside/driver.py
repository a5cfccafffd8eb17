"""The program of the box: runs the caller's extraction code and writes the blocks that it submits to a file."""

from __future__ import annotations

import json
import sys
from typing import Any

from sandbox_runtime.judge.extraction.fences import fenced_blocks
from sandbox_runtime.judge.extraction.heuristics import heuristic_blocks
from sandbox_runtime.model.judge import Block

RESULT = "blocks.json"


def main() -> None:
    request = json.load(sys.stdin)
    submitted: list[dict[str, Any]] = []

    def submit_code_blocks(blocks: list[Block]) -> None:
        for block in blocks:
            submitted.append({"priority": int(block.priority), "language": str(block.language), "code": str(block.code)})

    scope = {
        "__name__": "__custom_extract_logic__",
        "CodeBlock": Block,
        "completion": request["completion"],
        "submit_code_blocks": submit_code_blocks,
        "extract_fenced_code": fenced_blocks,
        "extract_heuristic_code": heuristic_blocks,
    }
    exec(compile(request["logic"], "custom_extract_logic", "exec"), scope)
    with open(RESULT, "w", encoding="utf-8") as file:
        json.dump(submitted, file)
