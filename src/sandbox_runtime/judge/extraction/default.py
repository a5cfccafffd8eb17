"""The default way from a completion to its code: of all blocks found, those of the highest priority; of them the first in the
language that is asked for, else the first."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.judge.extraction.fences import FENCED, INCOMPLETE, fenced, incomplete
from sandbox_runtime.judge.extraction.heuristics import heuristic
from sandbox_runtime.judge.extraction.languages import same_language
from sandbox_runtime.model.judge import Block, Completion


@dataclass(frozen=True, slots=True)
class Extracted:
    """kind: fenced, incomplete_fenced, heuristic or empty."""

    code: str
    kind: str


EMPTY = Extracted("", "empty")


def default_extract(completion: Completion, language: str) -> Extracted:
    text = completion.text
    found = [*fenced(text), *heuristic(text, language), *incomplete(text), *completion.custom]
    return chosen(found, language)


def chosen(blocks: list[Block], language: str) -> Extracted:
    if not blocks:
        return EMPTY
    highest = max(block.priority for block in blocks)
    best = [block for block in blocks if block.priority == highest]
    taken = next((block for block in best if same_language(block.language, language)), best[0])
    return Extracted(taken.code, kind_of(taken))


def kind_of(block: Block) -> str:
    if block.priority >= FENCED:
        return "fenced"
    return "incomplete_fenced" if block.priority >= INCOMPLETE else "heuristic"
