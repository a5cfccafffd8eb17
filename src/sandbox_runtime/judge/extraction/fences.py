"""Code between fences of backticks.

A block begins behind three backticks that a word (the language) or nothing follows on their line, and ends before the next line
that begins with as many backticks. One pass over the lines: the time is linear in the text, whatever a model wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox_runtime.judge.extraction.languages import fence_language
from sandbox_runtime.model.judge import Block

FENCED, INCOMPLETE = 30, 20

_FENCE_AT_START = re.compile(r"[ \t]*(`{3,})[ \t]*([^\s`]*)[^`]*$")
_FENCE_AT_END = re.compile(r"(?<!`)(`{3,})[ \t]*([^\s`]*)[ \t]*$")


@dataclass(frozen=True, slots=True)
class _Piece:
    word: str
    code: str
    closed: bool


def fenced_blocks(text: str) -> list[Block]:
    return [Block(FENCED, fence_language(piece.word), piece.code) for piece in _pieces(text) if piece.closed]


def incomplete_blocks(text: str) -> list[Block]:
    """The last block, where its end is missing: an answer that was cut off."""
    return [Block(INCOMPLETE, fence_language(piece.word), piece.code) for piece in _pieces(text) if not piece.closed]


def tagged_blocks(text: str) -> list[tuple[str, Block]]:
    """The blocks that are closed, each with the word behind its fence as it is written."""
    return [(piece.word, Block(FENCED, fence_language(piece.word), piece.code)) for piece in _pieces(text) if piece.closed]


def _pieces(text: str) -> Iterator[_Piece]:
    ticks, word = 0, ""
    body: list[str] = []
    for line in text.split("\n"):
        if not ticks:
            ticks, word = _opening(line)
            body = []
        elif _ticks(line) < ticks:
            body.append(line)
        elif body:
            yield _Piece(word, "\n".join(body), closed=True)
            ticks = 0
        else:
            ticks, word = _reopening(line, ticks)
    if ticks and any(line.strip() for line in body):
        yield _Piece(word, _without_last_fence("\n".join(body)), closed=False)


def _opening(line: str) -> tuple[int, str]:
    """How many backticks open a block on this line, 0 for none, and the word behind them."""
    if "```" not in line:
        return 0, ""
    found = _FENCE_AT_START.match(line) or _FENCE_AT_END.search(line)
    return (len(found[1]), found[2]) if found else (0, "")


def _reopening(line: str, ticks: int) -> tuple[int, str]:
    """A fence right below a fence: with a word it is the true opening of a doubled one, without one the block was empty."""
    again, word = _opening(line)
    return (again, word) if word and again == ticks else (0, "")


def _ticks(line: str) -> int:
    line = line.lstrip(" \t")
    return len(line) - len(line.lstrip("`"))


def _without_last_fence(code: str) -> str:
    """Three backticks behind the last statement, on its own line: meant as the end, though no fence."""
    return re.sub(r"`{3,}\s*\Z", "", code) if code.rstrip().endswith("```") else code
