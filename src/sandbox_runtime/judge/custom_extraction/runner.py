"""The job of the box, and what comes back from it."""

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
    """The blocks that the logic submits of this completion. run: the engine's way to run a job. Raises InvalidRequest with what
    it printed where the logic itself fails."""
    result = await run(_job(logic, completion))
    outcome = result.run
    if outcome is None or outcome.blame is Blame.platform:
        raise PlatformFault(f"custom_extract_logic could not be run: {outcome.message if outcome else 'it was not started'}")
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
    """The steps of extraction under the names by which they know each other, with the one noun that they need."""
    return (
        *(File(f"sandbox_runtime{package}/__init__.py", b"") for package in _PACKAGES),
        *(File(f"sandbox_runtime/judge/extraction/{step}.py", _source("extraction", step).encode()) for step in _MODULES),
        File("sandbox_runtime/model/judge.py", _BLOCK_SOURCE.encode()),
    )


def _source(folder: str, name: str) -> str:
    return resources.files("sandbox_runtime.judge").joinpath(folder, f"{name}.py").read_text(encoding="utf-8")


def _failure_text(outcome: Outcome) -> str:
    said = outcome.stderr.text.strip()[-_MAX_MESSAGE_CHARACTERS:]
    return said or outcome.message or outcome.ending.replace("_", " ")


def _parse_blocks(content: bytes) -> tuple[Block, ...]:
    """The file is written by the caller's code as much as by ours: nothing in it is taken for granted."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or len(found) > MAX_BLOCKS or not all(map(_is_block, found)):
        raise InvalidRequest(f"custom_extract_logic must submit at most {MAX_BLOCKS} CodeBlock(priority, language, code)")
    return tuple(Block(entry["priority"], entry["language"], entry["code"]) for entry in found)


def _is_block(entry: Any) -> bool:
    if not isinstance(entry, dict) or set(entry) != {"priority", "language", "code"}:
        return False
    priority = entry["priority"]
    return isinstance(priority, int) and all(isinstance(entry[name], str) for name in ("language", "code"))
