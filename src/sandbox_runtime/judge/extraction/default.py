"""The default extraction: of the blocks with the highest priority, take the first in the requested language, else the first."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.judge.extraction.fences import FENCED, INCOMPLETE, fenced_blocks, incomplete_blocks
from sandbox_runtime.judge.extraction.heuristics import heuristic_blocks
from sandbox_runtime.judge.extraction.languages import same_language
from sandbox_runtime.model.judge import Block, Completion


@dataclass(frozen=True, slots=True)
class ExtractedCode:
    code: str
    kind: str
    """fenced, incomplete_fenced, heuristic or empty"""


EMPTY = ExtractedCode("", "empty")


def default_extract(completion: Completion, language: str) -> ExtractedCode:
    text = completion.text
    blocks = [*fenced_blocks(text), *heuristic_blocks(text, language), *incomplete_blocks(text), *completion.custom]
    return choose_block(blocks, language)


def choose_block(blocks: list[Block], language: str) -> ExtractedCode:
    if not blocks:
        return EMPTY
    highest = max(block.priority for block in blocks)
    best = [block for block in blocks if block.priority == highest]
    chosen = next((block for block in best if same_language(block.language, language)), best[0])
    return ExtractedCode(chosen.code, block_kind(chosen))


def block_kind(block: Block) -> str:
    if block.priority >= FENCED:
        return "fenced"
    return "incomplete_fenced" if block.priority >= INCOMPLETE else "heuristic"
