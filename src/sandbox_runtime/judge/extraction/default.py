"""The default way from a completion to its code: of all blocks found, those of the highest priority; of them the first in the
language that is asked for, else the first."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.judge.extraction.fences import FENCED, INCOMPLETE, fenced_blocks, incomplete_blocks
from sandbox_runtime.judge.extraction.heuristics import heuristic_blocks
from sandbox_runtime.judge.extraction.languages import same_language
from sandbox_runtime.model.judge import Block, Completion


@dataclass(frozen=True, slots=True)
class ExtractedCode:
    """kind: fenced, incomplete_fenced, heuristic or empty."""

    code: str
    kind: str


EMPTY = ExtractedCode("", "empty")


def default_extract(completion: Completion, language: str) -> ExtractedCode:
    text = completion.text
    found = [*fenced_blocks(text), *heuristic_blocks(text, language), *incomplete_blocks(text), *completion.custom]
    return choose_block(found, language)


def choose_block(blocks: list[Block], language: str) -> ExtractedCode:
    if not blocks:
        return EMPTY
    highest = max(block.priority for block in blocks)
    best = [block for block in blocks if block.priority == highest]
    taken = next((block for block in best if same_language(block.language, language)), best[0])
    return ExtractedCode(taken.code, block_kind(taken))


def block_kind(block: Block) -> str:
    if block.priority >= FENCED:
        return "fenced"
    return "incomplete_fenced" if block.priority >= INCOMPLETE else "heuristic"
