"""Run the caller's extraction code in a box and read the blocks that it submits."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.model import Blame, File, Job, JobResult, Limits, Outcome
from sandbox_runtime.model.judge import Block
from sandbox_runtime.model.limits import MIB

MAX_BLOCKS = 1000
WALL_S = 10.0
_MAX_MESSAGE_CHARACTERS = 2000
_RESULT = "blocks.json"
_LIMITS = Limits(wall_s=WALL_S, memory_bytes=512 * MIB, processes=16)
_BLOCK_SOURCE = """from dataclasses import dataclass

@dataclass
class Block:
    priority: int
    language: str
    code: str
"""
_MODULES = ("fences", "heuristics", "languages")
_PACKAGES = ("", "/judge", "/judge/extraction", "/model")

Run = Callable[[Job], Awaitable[JobResult]]


async def extract_custom_blocks(run: Run, logic: str, completion: str) -> tuple[Block, ...]:
    """Return the blocks that the extraction code submits for this completion.

    run: runs a job in the engine.
    Raises InvalidRequest, with the code's output, if the code itself fails.
    """
    result = await run(_job(logic, completion))
    outcome = result.run
    if outcome is None or outcome.blame is Blame.platform:
        raise PlatformFault(f"custom_extract_logic could not run: {outcome.message if outcome else 'it was not started'}")
    if not outcome.ok or not result.files:
        raise InvalidRequest(f"custom_extract_logic failed: {_failure_text(outcome)}")
    return _parse_blocks(result.files[0].content)


def _job(logic: str, completion: str) -> Job:
    return Job(
        language="python",
        code=_source("custom_extraction/inside", "driver") + "\nmain()\n",
        stdin=json.dumps({"logic": logic, "completion": completion}).encode(),
        files=_files(),
        fetch=(_RESULT,),
        run_limits=_LIMITS,
    )


def _files() -> tuple[File, ...]:
    """Return the extraction modules under their import names, with the one class that they need."""
    return (
        *(File(f"sandbox_runtime{package}/__init__.py", b"") for package in _PACKAGES),
        *(File(f"sandbox_runtime/judge/extraction/{step}.py", _source("extraction", step).encode()) for step in _MODULES),
        File("sandbox_runtime/model/judge.py", _BLOCK_SOURCE.encode()),
    )


def _source(folder: str, name: str) -> str:
    return resources.files("sandbox_runtime.judge").joinpath(folder, f"{name}.py").read_text(encoding="utf-8")


def _failure_text(outcome: Outcome) -> str:
    printed = outcome.stderr.text.strip()[-_MAX_MESSAGE_CHARACTERS:]
    return printed or outcome.message or outcome.ending.replace("_", " ")


def _parse_blocks(content: bytes) -> tuple[Block, ...]:
    """Parse and check the file: the caller's code can write it too, so nothing in it is trusted."""
    try:
        entries = json.loads(content)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list) or len(entries) > MAX_BLOCKS or not all(map(_is_block, entries)):
        raise InvalidRequest(f"custom_extract_logic must submit at most {MAX_BLOCKS} CodeBlock(priority, language, code)")
    return tuple(Block(entry["priority"], entry["language"], entry["code"]) for entry in entries)


def _is_block(entry: Any) -> bool:
    if not isinstance(entry, dict) or set(entry) != {"priority", "language", "code"}:
        return False
    priority = entry["priority"]
    return isinstance(priority, int) and all(isinstance(entry[name], str) for name in ("language", "code"))
